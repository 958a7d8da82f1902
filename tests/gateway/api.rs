//! Each test's own emulator, with an HTTP API in front of the echo function.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use local::control::{Control, MadeApi};
use local::emulator::Emulator;
use local::gateway::{Concurrency, Gateway};
use local::identity::Issuer;
use local::setup::install;
use local::valkey::Valkey;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The function's name, and its timeout in seconds.
pub(crate) const FUNCTION: &str = "echo";
pub(crate) const TIMEOUT_S: u64 = 3;
/// Far longer than any test takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) async fn connect(gateway: &Gateway) -> TcpStream {
    TcpStream::connect(gateway.url().strip_prefix("http://").unwrap()).await.unwrap()
}

pub(crate) async fn rest(connection: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    // A reset connection has already delivered its answer.
    let _ = timeout(PATIENCE, connection.read_to_end(&mut heard)).await.expect("the gateway closes the connection");
    String::from_utf8_lossy(&heard).into_owned()
}

/// An emulator with an API. Dropping it stops it.
pub(crate) struct Api {
    pub(crate) emulator: Emulator,
    pub(crate) issuer: Issuer,
    pub(crate) made: MadeApi,
    pub(crate) control: Control,
    _valkey: Valkey,
}

impl Api {
    /// An API with this one route, which needs no token.
    pub(crate) async fn open(route: &str) -> Self {
        let api = Self::with(json!({}), &[]).await;
        api.route(route, false, json!({})).await;
        api
    }

    /// An API without routes. `more` are its further fields, and `settings` those of its function.
    pub(crate) async fn with(more: Value, settings: &[(&str, String)]) -> Self {
        let (valkey, emulator) = spawn_blocking(|| {
            install().unwrap();
            let valkey = Valkey::start().unwrap();
            let emulator = Emulator::start(valkey.port()).unwrap();
            (valkey, emulator)
        })
        .await
        .unwrap();
        let issuer = Issuer::publish(&emulator.endpoint()).await.unwrap();
        let control = Control::new(&emulator.endpoint());
        let environment = [&[("SAID", "by the deployment".to_owned())], settings].concat();
        let bootstrap = Path::new(env!("CARGO_BIN_EXE_echo"));
        control.create_function(FUNCTION, bootstrap, TIMEOUT_S, &environment).await.unwrap();
        let made = control.create_api(FUNCTION, issuer.url(), more, json!({})).await.unwrap();
        Self { emulator, issuer, made, control, _valkey: valkey }
    }

    /// Puts an API without routes in its place, with this stage. An emulator of its own for each API takes seconds.
    pub(crate) async fn replace(&mut self, stage: Value) {
        self.control.delete_api(&self.made).await.unwrap();
        self.made = self.control.create_api(FUNCTION, self.issuer.url(), json!({}), stage).await.unwrap();
    }

    /// Adds a route. `more` is its further fields.
    pub(crate) async fn route(&self, key: &str, with_token: bool, more: Value) {
        self.control.create_route(&self.made, key, with_token, more).await.unwrap();
    }

    pub(crate) async fn create_in(&self, what: &str, item: &Value) -> Value {
        self.control.create(&format!("/v2/apis/{}/{what}", self.made.id), item).await.unwrap()
    }

    pub(crate) fn emulators_url(&self) -> String {
        format!("{}/_aws/execute-api/{}", self.emulator.endpoint(), self.made.id)
    }

    /// Starts our local gateway for it.
    pub(crate) async fn serve(&self, concurrency: Concurrency) -> anyhow::Result<Gateway> {
        Gateway::start(&self.emulator.endpoint(), 0, self.emulator.home(), concurrency).await
    }

    /// The same with this limit for a request and for its head.
    pub(crate) async fn serve_within(&self, limit: Duration) -> anyhow::Result<Gateway> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (endpoint, home) = (self.emulator.endpoint(), self.emulator.home());
        Gateway::start_within(limit, listener, &endpoint, home, Concurrency::FAST).await
    }
}
