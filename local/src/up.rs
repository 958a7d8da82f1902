//! A local cloud that goes on running after the command that started it.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use door::Grant;
use sale::Round;
use serde::{Deserialize, Serialize};

use crate::client::{Client, NewSale};
use crate::deployment::{Deployment, STACK, deploy};
use crate::identity::Issuer;
use crate::process::{accepts, end_group, free_port, start_detached};
use crate::setup::set_up;
use crate::stages::Stage;
use crate::web::{self, WebServer};
use crate::{emulator, paths, valkey};

const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The sale that `up` opens.
const SALE: &str = "lamp";
/// How long it is open.
const SALE_OPEN_S: i64 = 7 * 24 * 60 * 60;

#[derive(Serialize, Deserialize)]
struct Running {
    /// Process groups, in the order in which they are to end.
    groups: Vec<i32>,
    ports: Vec<u16>,
    /// Where the page is.
    page_url: String,
    home: PathBuf,
    issuer_key_pem: String,
    deployment: Option<Deployment>,
}

fn file() -> PathBuf {
    paths::state().join("up.json")
}

fn environment_file() -> PathBuf {
    paths::state().join("up.env")
}

impl Running {
    fn read() -> Result<Option<Self>> {
        match std::fs::read_to_string(file()) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).context("target/local/up.json is damaged; remove it")?)),
            Err(_) => Ok(None),
        }
    }

    fn write(&self) -> Result<()> {
        std::fs::create_dir_all(paths::state())?;
        Ok(std::fs::write(file(), serde_json::to_string_pretty(self)?)?)
    }

    fn is_alive(&self) -> bool {
        self.ports.iter().all(|port| accepts(*port))
    }
}

/// Starts everything and leaves it running; if it runs already, says where.
///
/// # Errors
/// If any of it fails; then what was started is ended.
pub async fn up() -> Result<()> {
    if let Some(running) = Running::read()? {
        if let Some(deployment) = running.deployment.as_ref().filter(|_| running.is_alive()) {
            eprintln!("already running");
            return explain(&running.page_url, deployment, &issuer(&running, deployment)?);
        }
        down()?;
    }
    set_up()?;
    let result = start().await;
    if result.is_err() {
        down()?;
    }
    result
}

async fn start() -> Result<()> {
    let stage = Stage::spinner("Starting Valkey and the emulator");
    let (valkey_port, port) = (free_port()?, free_port()?);
    let home = emulator::home(port)?;
    let mut running = Running {
        groups: Vec::new(),
        ports: vec![valkey_port, port],
        page_url: String::new(),
        home: home.clone(),
        issuer_key_pem: String::new(),
        deployment: None,
    };
    let log = |name: &str| paths::state().join(format!("up-{name}.log"));
    running.groups.insert(0, start_detached("valkey", &mut valkey::command(valkey_port)?, &log("valkey"))?);
    running.write()?;
    let mut command = emulator::command(port, valkey_port, &home)?;
    running.groups.insert(0, start_detached("ministack", &mut command, &log("emulator"))?);
    running.write()?;
    wait_for(&running, "Valkey or the emulator").await?;
    stage.done(format!("ports {valkey_port} and {port}"));

    let stage = Stage::spinner("Deploying infra/cdk");
    let endpoint = emulator::endpoint(port);
    let issuer = Issuer::publish(&endpoint).await?;
    let deployment = deploy(&endpoint, issuer.url(), &home).await?;
    issuer.private_key_pem().clone_into(&mut running.issuer_key_pem);
    running.deployment = Some(deployment.clone());
    running.write()?;
    std::fs::write(environment_file(), environment(&deployment, issuer.url()))?;
    stage.done(&deployment.api_url);

    let stage = Stage::spinner("Opening a sale");
    let client = Client::new(&deployment.api_url)?;
    let operator = issuer.operator_token("operator")?;
    let sale = NewSale::opening_in(SALE, 0, SALE_OPEN_S, 100, 900);
    client.open_sale(&operator, &sale).await?;
    client.show_sale(&operator, &sale).await?;
    deployment.invoke(&deployment.warmup_function).await?;
    stage.done("100 lamps");

    let stage = Stage::spinner("Serving the page");
    let web_port = free_port()?;
    running.page_url = web::url(web_port);
    running.write()?;
    let mut command = Command::new(this_program()?);
    command.args(["web", "--port", &web_port.to_string()]);
    running.groups.insert(0, start_detached("web", &mut command, &log("web"))?);
    running.ports.push(web_port);
    running.write()?;
    wait_for(&running, "the web server").await?;
    stage.done(&running.page_url);
    explain(&running.page_url, &deployment, &issuer)
}

/// Building the functions may have built this program anew; the kernel then calls the old one deleted.
fn this_program() -> Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the program's path is not UTF-8")?;
    Ok(program.trim_end_matches(" (deleted)").to_owned())
}

async fn wait_for(running: &Running, what: &str) -> Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !running.is_alive() {
        if Instant::now() >= deadline {
            bail!("{what} does not start; see {}", paths::state().display());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Serves the page of the running cloud until this process is ended.
///
/// # Errors
/// If none is running or the port is taken.
pub async fn serve_page(port: u16) -> Result<()> {
    let (deployment, issuer) = running()?;
    WebServer::start(port, &deployment, issuer).await?.ended().await
}

/// Ends what `up` started.
///
/// # Errors
/// If a process cannot be ended.
pub fn down() -> Result<()> {
    let Some(running) = Running::read()? else {
        eprintln!("nothing is running");
        return Ok(());
    };
    // A process group that was ended by other means may have given its number away: only end what still serves.
    let mut ended = 0;
    if running.ports.iter().any(|port| accepts(*port)) || running.deployment.is_none() {
        for group in &running.groups {
            end_group(*group)?;
            ended += 1;
        }
    }
    let _ = std::fs::remove_dir_all(&running.home);
    let _ = std::fs::remove_file(environment_file());
    std::fs::remove_file(file())?;
    eprintln!("ended {ended} processes");
    Ok(())
}

/// A token for a user of the running cloud.
///
/// # Errors
/// If none is running.
pub fn sign_token(user: &str, operator: bool) -> Result<String> {
    let (_, issuer) = running()?;
    if operator { issuer.operator_token(user) } else { issuer.token(user) }
}

/// A pass for a user of the running cloud, as the door of a sale gives it for an answered challenge.
///
/// # Errors
/// If none is running.
pub async fn seal_pass(user: &str, sale: &str, round: u32) -> Result<String> {
    let (deployment, _) = running()?;
    let (sale, user) = (sale.parse()?, user.parse()?);
    let issued_at_ms = runtime::Clock::system().now();
    let grant = Grant { sale: &sale, round: Round(round), user: &user, issued_at_ms };
    Ok(deployment.pass_ring().await?.seal(&grant))
}

/// The running cloud and who signs its tokens.
///
/// # Errors
/// If none is running.
pub fn running() -> Result<(Deployment, Issuer)> {
    let running = Running::read()?.context("nothing is running; start it with `make up`")?;
    let deployment = running.deployment.clone().context("it has not come up; run `make down` and `make up`")?;
    let issuer = issuer(&running, &deployment)?;
    Ok((deployment, issuer))
}

fn issuer(running: &Running, deployment: &Deployment) -> Result<Issuer> {
    Issuer::from_pem(&deployment.endpoint, running.issuer_key_pem.clone())
}

fn explain(page_url: &str, deployment: &Deployment, issuer: &Issuer) -> Result<()> {
    let api = &deployment.api_url;
    println!("Shop       {page_url}");
    println!("Operators  {}", web::operators_url(page_url, SALE));
    println!("API        {api}");
    println!("AWS        {}   (any credentials, region {})", deployment.endpoint, emulator::REGION);
    println!("Redis      {}", deployment.redis_url);
    println!("\nBuy a lamp, then look at your orders:\n");
    println!("  TOKEN={}", issuer.token("alice")?);
    println!("  curl -X POST -H \"authorization: Bearer $TOKEN\" {api}/v1/sales/{SALE}/reservations/$(make pass)");
    println!("  curl -H \"authorization: Bearer $TOKEN\" {api}/v1/orders");
    println!("\nThe functions' settings are in {}. End it with `make down`.", environment_file().display());
    Ok(())
}

/// Where the API is, and what the functions need in their environment to run outside of the emulator, as
/// `cargo lambda watch` does.
fn environment(deployment: &Deployment, issuer_url: &str) -> String {
    let Deployment { endpoint, redis_url, table, .. } = deployment;
    let push_endpoint = deployment.push_endpoint().unwrap_or_default();
    let settings = [
        ("API_URL", deployment.api_url.as_str()),
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", emulator::ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", emulator::ACCESS_KEY),
        ("AWS_REGION", emulator::REGION),
        ("REDIS_URL", redis_url),
        ("TABLE_NAME", table),
        ("METRICS_NAMESPACE", STACK),
        ("ORDERS_QUEUE_URL", &deployment.orders_queue_url),
        ("ORDERS_DLQ_URL", &deployment.orders_dlq_url),
        ("EXPIRY_DLQ_URL", &deployment.expiry_dlq_url),
        ("EXPIRY_QUEUE_URL", &deployment.expiry_queue_url),
        ("QUARANTINE_QUEUE_URL", &deployment.quarantine_queue_url),
        ("PAYMENT_SECRET_ARN", &deployment.payment_secret),
        ("PASS_SECRET_ARN", &deployment.pass_secret),
        ("OPERATOR_GROUP", crate::identity::OPERATORS),
        ("PUSH_ENDPOINT", &push_endpoint),
        ("JWT_ISSUER", issuer_url),
        ("JWT_AUDIENCE", crate::identity::AUDIENCE),
    ];
    settings.iter().map(|(name, value)| format!("export {name}={value}\n")).collect()
}
