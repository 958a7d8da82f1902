//! Lambda's Runtime API: a function's process asks it for an event, and posts the result.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, Semaphore, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::server;

pub type Made = Result<Bytes, Fault>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Reported(Bytes),
    Died,
    /// It exceeded its time limit, and its process was ended.
    TimedOut,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reported(error) => write!(f, "the function failed: {}", String::from_utf8_lossy(error)),
            Self::Died => f.write_str("the function's process died"),
            Self::TimedOut => f.write_str("the function took longer than its timeout"),
        }
    }
}

impl std::error::Error for Fault {}

/// Events of a function that wait for a process, oldest first.
pub(crate) struct Events {
    give: UnboundedSender<Event>,
    take: Mutex<UnboundedReceiver<Event>>,
    waiting: AtomicUsize,
    free: AtomicUsize,
}

struct Event {
    id: String,
    body: Bytes,
    answer: oneshot::Sender<Made>,
}

impl Events {
    pub(crate) fn new() -> Arc<Self> {
        let (give, take) = unbounded_channel();
        let (waiting, free) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { give, take: Mutex::new(take), waiting, free })
    }

    pub(crate) fn outnumber_processes(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > self.free.load(Ordering::Acquire)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Queues an event for the next process that asks. Dropping the result withdraws it, unless it was taken.
    pub(crate) fn put(&self, body: Bytes) -> oneshot::Receiver<Made> {
        let (answer, made) = oneshot::channel();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let event = Event { id: Uuid::now_v7().to_string(), body, answer };
        self.give.send(event).expect("the receiver is in here too");
        made
    }

    /// Gives up on all waiting events, if no process is asking.
    pub(crate) fn give_up(&self) {
        let Ok(mut events) = self.take.try_lock() else { return };
        // Take them all out before answering the first one: an event that comes after that has not waited yet.
        let given_up: Vec<Event> = std::iter::from_fn(|| events.try_recv().ok()).collect();
        self.waiting.fetch_sub(given_up.len(), Ordering::AcqRel);
        given_up.into_iter().for_each(|event| drop(event.answer.send(Err(Fault::Died))));
    }

    async fn next(&self) -> Event {
        self.free.fetch_add(1, Ordering::AcqRel);
        let _free = Free(&self.free);
        let mut events = self.take.lock().await;
        loop {
            let event = events.recv().await.expect("the sender is in here too");
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            if !event.answer.is_closed() {
                return event;
            }
        }
    }
}

/// A process that is asking for an event, and is counted meanwhile.
struct Free<'a>(&'a AtomicUsize);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A Runtime API on the loopback. A process may have as many events at once as it asks for. Dropping it ends it.
pub struct RuntimeApi {
    address: SocketAddr,
    desk: Arc<Desk>,
    server: JoinHandle<()>,
}

struct Desk {
    events: Arc<Events>,
    taken: parking_lot::Mutex<HashMap<String, Taken>>,
    timeout: Duration,
    asked: AtomicBool,
    answered: parking_lot::Mutex<Option<Instant>>,
    /// Has no permits; closed when the process must not get more events.
    open: Semaphore,
}

struct Taken {
    answer: oneshot::Sender<Made>,
    at: Instant,
}

pub(crate) struct Overdue {
    pub(crate) count: u64,
    /// Whether the process has answered nothing else since it took one of them.
    pub(crate) hangs: bool,
}

impl RuntimeApi {
    /// One with its own events. Processes hear that they have `timeout` for each, but it does not end them.
    pub async fn start(timeout: Duration) -> Result<Self> {
        Self::of(Events::new(), timeout).await
    }

    pub(crate) async fn of(events: Arc<Events>, timeout: Duration) -> Result<Self> {
        let desk = Arc::new(Desk {
            events,
            taken: parking_lot::Mutex::default(),
            timeout,
            asked: AtomicBool::new(false),
            answered: parking_lot::Mutex::default(),
            open: Semaphore::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no free port on the loopback")?;
        let address = listener.local_addr()?;
        let server = serve(listener, Arc::clone(&desk));
        Ok(Self { address, desk, server })
    }

    /// The value of `AWS_LAMBDA_RUNTIME_API`.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives an event to the next process that asks, and waits for the result: forever, if that process dies.
    pub async fn invoke(&self, event: impl Into<Bytes>) -> Made {
        self.desk.events.put(event.into()).await.expect("the sender stays until it has sent")
    }

    /// Whether a process has asked yet; until then it is starting.
    pub(crate) fn was_asked(&self) -> bool {
        self.desk.asked.load(Ordering::Acquire)
    }

    /// Gives up on events that a process has had for too long.
    pub(crate) fn give_up_overdue(&self) -> Overdue {
        let is_overdue = |_: &String, taken: &mut Taken| taken.at.elapsed() >= self.desk.timeout;
        let overdue: Vec<Taken> = self.desk.taken.lock().extract_if(is_overdue).map(|(_, taken)| taken).collect();
        let answered = *self.desk.answered.lock();
        let hangs = overdue.iter().any(|taken| answered.is_none_or(|answered| answered < taken.at));
        let count = overdue.len() as u64;
        overdue.into_iter().for_each(|taken| drop(taken.answer.send(Err(Fault::TimedOut))));
        Overdue { count, hangs }
    }

    /// Gives the process no more events: its pending requests outlive it by a moment, and nobody would handle them.
    pub(crate) fn close(&self) {
        self.desk.open.close();
    }

    /// Gives up on every event that was taken: the process is gone.
    pub(crate) fn give_up(&self) {
        for (_, taken) in self.desk.taken.lock().drain() {
            let _ = taken.answer.send(Err(Fault::Died));
        }
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.close();
        self.server.abort();
    }
}

impl Desk {
    fn made(&self, id: &str, made: Made) -> StatusCode {
        *self.answered.lock() = Some(Instant::now());
        let Some(taken) = self.taken.lock().remove(id) else { return StatusCode::NOT_FOUND };
        // The caller may be gone.
        let _ = taken.answer.send(made);
        StatusCode::ACCEPTED
    }
}

fn serve(listener: TcpListener, desk: Arc<Desk>) -> JoinHandle<()> {
    server::serve(listener, None, move |_, request| answer(Arc::clone(&desk), request))
}

async fn answer(desk: Arc<Desk>, request: Request<Incoming>) -> Response<Body> {
    let (Parts { method, uri, .. }, body) = request.into_parts();
    let Some(path) = uri.path().strip_prefix("/2018-06-01/runtime/") else { return empty(StatusCode::NOT_FOUND) };
    if (&method, path) == (&Method::GET, "invocation/next") {
        return next(&desk).await;
    }
    // It came from a process that was ended meanwhile.
    let Ok(body) = body.collect().await else { return empty(StatusCode::BAD_REQUEST) };
    let body = body.to_bytes();
    let of_event = path.strip_prefix("invocation/").and_then(|path| path.split_once('/'));
    empty(match (&method, of_event) {
        (&Method::POST, Some((id, "response"))) => desk.made(id, Ok(body)),
        (&Method::POST, Some((id, "error"))) => desk.made(id, Err(Fault::Reported(body))),
        (&Method::POST, None) if path == "init/error" => {
            // The process ends by itself after this, and is started again.
            eprintln!("a function does not start: {}", String::from_utf8_lossy(&body));
            StatusCode::ACCEPTED
        }
        _ => StatusCode::NOT_FOUND,
    })
}

async fn next(desk: &Desk) -> Response<Body> {
    desk.asked.store(true, Ordering::Release);
    let event = tokio::select! {
        biased;
        _ = desk.open.acquire() => return empty(StatusCode::GONE),
        event = desk.events.next() => event,
    };
    let deadline = SystemTime::now() + desk.timeout;
    let deadline_ms = deadline.duration_since(UNIX_EPOCH).expect("a clock after 1970").as_millis();
    let Event { id, body, answer } = event;
    let response = Response::builder()
        .header("lambda-runtime-aws-request-id", &id)
        .header("lambda-runtime-deadline-ms", deadline_ms.to_string())
        .header("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:000000000000:function:here");
    desk.taken.lock().insert(id, Taken { answer, at: Instant::now() });
    response.body(Body::from(body)).expect("these headers are valid")
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
