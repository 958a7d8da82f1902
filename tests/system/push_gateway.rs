//! API Gateway's `@connections`, with refusals and silence that the emulator does not offer.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use tests::Server;

use crate::prelude::*;

/// How a connection treats the messages sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conduct {
    Takes,
    Fails,
    Hangs,
}

#[derive(Default)]
struct Connections {
    conduct: HashMap<String, Conduct>,
    heard: HashMap<String, Vec<Value>>,
    closed: Vec<String>,
}

/// Takes messages and remembers them, until dropped.
pub(crate) struct PushGateway {
    connections: Arc<Mutex<Connections>>,
    server: Server,
}

impl PushGateway {
    pub(crate) fn start() -> Self {
        let connections = Arc::<Mutex<Connections>>::default();
        let routes = Router::new().route("/push/@connections/{id}", post(take).delete(close));
        let routes = routes.with_state(Arc::clone(&connections));
        Self { connections, server: Server::http(routes) }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("{}/push", self.server.url())
    }

    pub(crate) fn set(&self, connection: &str, conduct: Conduct) {
        self.connections.lock().unwrap().conduct.insert(connection.to_owned(), conduct);
    }

    pub(crate) fn heard(&self, connection: &str) -> Vec<Value> {
        self.connections.lock().unwrap().heard.get(connection).cloned().unwrap_or_default()
    }

    pub(crate) fn closed(&self) -> Vec<String> {
        self.connections.lock().unwrap().closed.clone()
    }
}

async fn take(State(shared): State<Arc<Mutex<Connections>>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    let conduct = shared.lock().unwrap().conduct.get(&id).copied();
    match conduct.unwrap_or(Conduct::Takes) {
        Conduct::Fails => return StatusCode::INTERNAL_SERVER_ERROR,
        Conduct::Hangs => std::future::pending().await,
        Conduct::Takes => {}
    }
    let message = serde_json::from_slice(&body).expect("messages are JSON");
    shared.lock().unwrap().heard.entry(id).or_default().push(message);
    StatusCode::OK
}

async fn close(State(shared): State<Arc<Mutex<Connections>>>, Path(id): Path<String>) -> StatusCode {
    shared.lock().unwrap().closed.push(id);
    StatusCode::NO_CONTENT
}
