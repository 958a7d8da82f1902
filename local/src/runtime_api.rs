//! The side of Lambda that a function's process talks to: it asks for an event, and posts what it made of it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// What a process made of an event: its answer, or the error that it reported.
pub type Made = Result<Bytes, Bytes>;

/// A Runtime API on the loopback. As many processes may ask it as wish, and each may have as many events at once as it
/// asks for. Dropping it ends it.
pub struct RuntimeApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    give: UnboundedSender<(String, Bytes)>,
    events: Mutex<UnboundedReceiver<(String, Bytes)>>,
    waiting: StdMutex<HashMap<String, oneshot::Sender<Made>>>,
    timeout: Duration,
}

impl RuntimeApi {
    /// One that tells its processes that they have `timeout` for each event. It does not end them for it.
    pub async fn start(timeout: Duration) -> Self {
        let (give, events) = unbounded_channel();
        let shared = Arc::new(Shared { give, events: Mutex::new(events), waiting: StdMutex::default(), timeout });
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        Self { address, shared, server }
    }

    /// What `AWS_LAMBDA_RUNTIME_API` has to be.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives an event to the process that asks next, and waits for what it makes of it: forever, if that one dies.
    pub async fn invoke(&self, event: impl Into<Bytes>) -> Made {
        let (answer, made) = oneshot::channel();
        let id = Uuid::now_v7().to_string();
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), answer);
        self.shared.give.send((id, event.into())).expect("the receiver is in here too");
        made.await.expect("the sender stays until it has sent")
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn next(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let (id, event) = shared.events.lock().await.recv().await.expect("the sender is in here too");
    let deadline = SystemTime::now() + shared.timeout;
    let deadline_ms = deadline.duration_since(UNIX_EPOCH).expect("a clock after 1970").as_millis();
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline_ms.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:000000000000:function:here".to_owned()),
    ];
    (headers, event)
}

async fn response(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    shared.made(&id, Ok(body))
}

async fn error(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    shared.made(&id, Err(body))
}

impl Shared {
    fn made(&self, id: &str, made: Made) -> StatusCode {
        let Some(waiting) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(id) else {
            return StatusCode::NOT_FOUND;
        };
        // Whoever asked may have gone.
        let _ = waiting.send(made);
        StatusCode::ACCEPTED
    }
}
