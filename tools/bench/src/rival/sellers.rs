//! The two sides: ours as `make up` serves it, and the Node service of `tools/bench/rival`.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use axum::http::Method;
use load::{Client, Request, Token};
use local::build::{compile_programs, run};
use local::client::{Client as Api, NewSale};
use local::deployment::{Deployment, sealed};
use local::identity::{AUDIENCE, Bearer, Issuer};
use local::paths;
use local::process::{Kept, tail};
use local::setup::set_up;
use local::stages::Stage;
use local::valkey::Valkey;
use pass::KeyRing;
use sale::{RoundId, RoundNumber};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Buyers who ask at once, each on a connection of its own.
pub(crate) const CLIENTS: usize = 64;

/// The rival's package.
const PACKAGE: &str = "tools/bench/rival";
/// The program that `make up` runs.
const LOCAL: &str = "local";
/// How long the sides may take to start on a busy machine, and how often to look.
const UP_WITHIN: Duration = Duration::from_secs(300);
const SERVES_WITHIN: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_millis(50);
/// Longer than a run, so that no order expires in the middle of it.
const OPEN_S: i64 = 2 * 60 * 60;
const PAYMENT_WINDOW_S: u32 = 2 * 60 * 60;

/// One side. Its client has a connection for each of [`CLIENTS`].
pub(crate) trait Seller {
    fn client(&self) -> &Arc<Client>;

    /// Puts units on sale, one for each user.
    async fn offer(&self, sale: &str, units: usize) -> Result<()>;

    /// A buyer's request for a unit.
    fn request(&self, sale: &str, buyer: &Bearer) -> Result<Request>;

    /// How many orders there are. None if a unit is free or something does not add up, which may be for a moment.
    async fn ordered(&self, sale: &str) -> Result<Option<u64>>;
}

/// Builds and installs both.
pub(crate) fn prepare() -> Result<()> {
    set_up()?;
    compile_programs("`make up`", &[LOCAL])?;
    let stage = Stage::spinner("Installing the rival");
    let script = paths::root().join("tools/packages.sh");
    run(Command::new(script).arg(PACKAGE).current_dir(paths::root()), "tools/packages.sh")?;
    stage.done(PACKAGE);
    Ok(())
}

fn folder() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("rival-").tempdir_in(paths::usable_state()?)?)
}

/// What `make up` starts, in a process of its own and with a state of its own. Dropping it ends that.
struct Up(TempDir);

impl Up {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(paths::target().join("debug").join(LOCAL));
        // The system ends with this program, also if that is killed.
        command.args(arguments).env("LOCAL_STATE", self.0.path()).env("LIVES_WITH", std::process::id().to_string());
        command
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.command(&["down"]).output();
    }
}

/// A part of what `make up` notes about the running system.
#[derive(Deserialize)]
struct UpState {
    deployment: Deployment,
    issuer_key_pem: String,
}

pub(crate) struct UpSystem {
    client: Arc<Client>,
    api: Api,
    deployment: Deployment,
    pub(crate) issuer: Issuer,
    keys: KeyRing,
    _up: Up,
}

impl UpSystem {
    /// Everything must be built.
    pub(crate) async fn start() -> Result<Self> {
        let up = Up(folder()?);
        let (state, log) = (up.0.path().join("up.json"), up.0.path().join("starting.log"));
        let mut starting = Kept::start("make up", &up.command(&["up", "--built"]), &log)?;
        let began = Instant::now();
        while !starting.has_ended()? {
            ensure!(began.elapsed() < UP_WITHIN, "`make up` takes too long:\n{}", tail(&log));
            tokio::time::sleep(POLL_EVERY).await;
        }
        // If it fails it removes what it noted.
        let Ok(state) = std::fs::read(state) else { bail!("`make up` failed:\n{}", tail(&log)) };
        let UpState { deployment, issuer_key_pem } = serde_json::from_slice(&state)?;
        let issuer = Issuer::from_pem(&deployment.endpoint, issuer_key_pem)?;
        Ok(Self {
            client: Arc::new(Client::with_connections(deployment.api_url.parse()?, CLIENTS)),
            api: Api::for_operator(&deployment.api_url, &issuer)?,
            issuer,
            keys: deployment.pass_ring().await?,
            deployment,
            _up: up,
        })
    }
}

impl Seller for UpSystem {
    fn client(&self) -> &Arc<Client> {
        &self.client
    }

    async fn offer(&self, sale: &str, units: usize) -> Result<()> {
        let offer = NewSale::opening_in(sale, 0, OPEN_S, u32::try_from(units)?, PAYMENT_WINDOW_S);
        self.api.open_sale(&offer).await?;
        // As the schedule does within a minute.
        self.deployment.invoke(&self.deployment.warmup_function).await.map(drop)
    }

    fn request(&self, sale: &str, buyer: &Bearer) -> Result<Request> {
        let round = RoundId { sale: sale.parse()?, number: RoundNumber(1) };
        let pass = sealed(&self.keys, &round, &buyer.user, runtime::Clock::system().now());
        Ok(Request::reserve(sale, &pass)?.token(&buyer.token).key("first-try"))
    }

    async fn ordered(&self, sale: &str) -> Result<Option<u64>> {
        let audit = self.api.operate("GET", &format!("/v1/admin/sales/{sale}/rounds/1/audit")).await?;
        Ok(audit["ordered"].as_u64().filter(|_| audit["clean"] == true && audit["free"] == 0))
    }
}

/// The rival, with a Valkey of its own.
pub(crate) struct NodeService {
    client: Arc<Client>,
    operator: Token,
    // In the order in which they end.
    _process: Kept,
    _valkey: Valkey,
    _folder: TempDir,
}

impl NodeService {
    /// It takes tokens of this issuer.
    pub(crate) fn start(issuer: &Issuer) -> Result<Self> {
        let (folder, valkey) = (folder()?, Valkey::start()?);
        let log = folder.path().join("server.log");
        let mut command = Command::new("node");
        command.arg("server.js").current_dir(paths::root().join(PACKAGE));
        command.env("DATABASE", folder.path().join("orders.db")).env("REDIS_URL", valkey.url());
        command.envs([("AUDIENCE", AUDIENCE), ("ISSUER", issuer.url()), ("NODE_ENV", "production"), ("PORT", "0")]);
        let mut process = Kept::start("the rival", &command, &log)?;
        process.wait_until(SERVES_WITHIN, || address_in(&log).is_some())?;
        let address = address_in(&log).context("the rival's log is gone")?;
        Ok(Self {
            client: Arc::new(Client::with_connections(address.parse()?, CLIENTS)),
            operator: issuer.operator_token("operator")?.parse()?,
            _process: process,
            _valkey: valkey,
            _folder: folder,
        })
    }

    async fn ask(&self, request: &Request) -> Result<Value> {
        let response = self.client.send(0, request).await?;
        ensure!(response.status == 200, "{} to {}", response.answer(), request.path());
        Ok(response.json())
    }
}

/// Where the rival says that it listens.
fn address_in(log: &Path) -> Option<String> {
    let text = std::fs::read_to_string(log).ok()?;
    let (address, _) = text.split_once("listening on ")?.1.split_once('\n')?;
    Some(address.to_owned())
}

impl Seller for NodeService {
    fn client(&self) -> &Arc<Client> {
        &self.client
    }

    async fn offer(&self, sale: &str, units: usize) -> Result<()> {
        let request = Request::new(Method::PUT, &format!("/stock/{sale}"))?.token(&self.operator);
        self.ask(&request.json(&json!({ "units": units }))).await.map(drop)
    }

    fn request(&self, sale: &str, buyer: &Bearer) -> Result<Request> {
        Ok(Request::new(Method::POST, "/reserve")?.token(&buyer.token).json(&json!({ "sale": sale })))
    }

    async fn ordered(&self, sale: &str) -> Result<Option<u64>> {
        let stock = self.ask(&Request::new(Method::GET, &format!("/stock/{sale}"))?).await?;
        Ok(stock["orders"].as_u64().filter(|_| stock["left"] == 0))
    }
}
