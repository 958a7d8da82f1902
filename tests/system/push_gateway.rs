//! API Gateway's `@connections`, with refusals and silence that the emulator does not offer.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

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
    address: SocketAddr,
    connections: Arc<Mutex<Connections>>,
    server: JoinHandle<()>,
}

impl PushGateway {
    pub(crate) async fn start() -> Self {
        let connections = Arc::<Mutex<Connections>>::default();
        let routes = Router::new().route("/push/@connections/{id}", post(take).delete(close));
        let routes = routes.with_state(Arc::clone(&connections));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        Self { address, connections, server }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}/push", self.address)
    }

    /// Sets how a connection behaves from now on.
    pub(crate) fn set(&self, connection: &str, conduct: Conduct) {
        lock(&self.connections).conduct.insert(connection.to_owned(), conduct);
    }

    pub(crate) fn heard(&self, connection: &str) -> Vec<Value> {
        lock(&self.connections).heard.get(connection).cloned().unwrap_or_default()
    }

    pub(crate) fn closed(&self) -> Vec<String> {
        lock(&self.connections).closed.clone()
    }
}

impl Drop for PushGateway {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(connections: &Mutex<Connections>) -> MutexGuard<'_, Connections> {
    connections.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn take(State(shared): State<Arc<Mutex<Connections>>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    let conduct = lock(&shared).conduct.get(&id).copied();
    match conduct.unwrap_or(Conduct::Takes) {
        Conduct::Fails => return StatusCode::INTERNAL_SERVER_ERROR,
        Conduct::Hangs => std::future::pending().await,
        Conduct::Takes => {}
    }
    let message = serde_json::from_slice(&body).expect("messages are JSON");
    lock(&shared).heard.entry(id).or_default().push(message);
    StatusCode::OK
}

async fn close(State(shared): State<Arc<Mutex<Connections>>>, Path(id): Path<String>) -> StatusCode {
    lock(&shared).closed.push(id);
    StatusCode::NO_CONTENT
}
