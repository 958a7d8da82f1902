//! Proxies in front of all services of a function. They name each effect and can kill the function at any of them: before
//! the effect happens, or after it but before its answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::forward::{Upstream, target};
use crate::resp::read_value;
use crate::seen::{Calm, Seen, is_read};

/// On which side of an effect the function dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// The request never arrives.
    Before,
    /// The request takes effect, but the answer never arrives.
    After,
}

/// One request of a run. It is identified by its kind and not by its position among all requests, which changes with
/// concurrent requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    /// The operation at AWS, or the command of Redis with the name of its script: `SendMessage`, `EVALSHA reserve`.
    pub kind: String,
    /// How many requests of this kind the run made before.
    pub nth: usize,
}

impl Effect {
    /// Whether it changes nothing.
    pub fn is_read(&self) -> bool {
        is_read(&self.kind)
    }
}

/// Where a run dies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The request.
    pub effect: Effect,
    /// The side of it.
    pub when: When,
}

/// The end of the world of one run, shared by the proxies in front of each service.
#[derive(Debug)]
pub struct Fault {
    point: Option<Point>,
    seen: Mutex<Seen>,
    over: AtomicBool,
    died: Notify,
}

/// The scripts' names by their digests.
static SCRIPTS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let digest = |text: &str| redis::Script::new(text).get_hash().to_owned();
    stock::expanded::ALL.iter().map(|(name, text)| (digest(text), (*name).to_owned())).collect()
});

impl Fault {
    /// Dies at the given point, or never.
    pub fn new(point: Option<Point>) -> Arc<Self> {
        let (seen, over, died) = (Mutex::default(), AtomicBool::new(false), Notify::new());
        Arc::new(Self { point, seen, over, died })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The effects that have begun so far.
    pub fn effects(&self) -> BTreeSet<Effect> {
        self.seen().effects()
    }

    /// How the services were when each effect began, if nothing that changes them was under way, and for a read until its
    /// answer. Dying before two effects with the same calm, or after such a read, leaves the same behind.
    pub fn calms(&self) -> BTreeMap<Effect, Calm> {
        self.seen().calms()
    }

    /// Something may change now that no proxy sees.
    pub fn interrupt(&self) {
        self.seen().interrupt();
    }

    /// Runs `work` until it ends or is killed at the point. Returns whether it ended by itself. Either way, nothing that it
    /// began reaches a service any more.
    pub async fn run(&self, work: impl Future) -> bool {
        tokio::select! {
            biased;
            () = self.died.notified() => {}
            _ = work => {}
        }
        !self.over.swap(true, Ordering::SeqCst)
    }

    /// Counts an effect and performs it, unless the run dies here or has died.
    pub(crate) async fn pass<T>(&self, kind: String, effect: impl Future<Output = Option<T>>) -> Option<T> {
        if self.is_over() {
            return None;
        }
        let begun = self.seen().begin(&kind);
        let point = self.point.as_ref().filter(|point| point.effect == begun);
        let is_last = |when| point.is_some_and(|point| point.when == when);
        if is_last(When::Before) {
            self.die();
            return None;
        }
        let answer = effect.await?;
        if is_last(When::After) {
            self.die();
        }
        self.seen().end(begun);
        (!self.is_over()).then_some(answer)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn die(&self) {
        if !self.over.swap(true, Ordering::SeqCst) {
            self.died.notify_one();
        }
    }
}

/// A proxy on the loopback interface. Dropping it stops it.
pub struct FaultProxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl FaultProxy {
    /// A proxy in front of the Redis at `upstream`.
    pub async fn redis(upstream: SocketAddr, fault: Arc<Fault>) -> Self {
        let (listener, address) = listen().await;
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let fault = Arc::clone(&fault);
                tokio::spawn(async move { pass_commands(client, upstream, &fault).await });
            }
        });
        Self { address, task }
    }

    /// A proxy in front of the AWS emulator at `upstream`.
    pub async fn aws(upstream: &str, fault: Arc<Fault>) -> Self {
        let (listener, address) = listen().await;
        let upstream = Arc::new(Upstream::new(upstream));
        let answer = async move |headers: HeaderMap, body: Bytes| {
            let kind = target(&headers).rsplit('.').next().unwrap_or_default().to_owned();
            match fault.pass(kind, async { upstream.pass(&headers, body).await.ok() }).await {
                Some(answer) => answer,
                None => pending().await,
            }
        };
        let routes = Router::new().fallback(answer);
        let task = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        Self { address, task }
    }

    /// A proxy that listens at `address` as long as `task` runs.
    pub(crate) const fn of(address: SocketAddr, task: JoinHandle<()>) -> Self {
        Self { address, task }
    }

    /// The address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Passes one command at a time, since pipelined commands are separate effects too.
async fn pass_commands(mut client: TcpStream, upstream: SocketAddr, fault: &Fault) -> Option<()> {
    let mut upstream = TcpStream::connect(upstream).await.ok()?;
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    loop {
        let command = read_value(&mut client, &mut asked).await?;
        let kind = kind_of(&command)?;
        let effect = async {
            upstream.write_all(&command).await.ok()?;
            read_value(&mut upstream, &mut answered).await
        };
        let answer = fault.pass(kind, effect).await?;
        client.write_all(&answer).await.ok()?;
    }
}

/// The kind of a command: its first word, and the script that it runs.
pub(crate) fn kind_of(command: &[u8]) -> Option<String> {
    let redis::Value::Array(words) = redis::parse_redis_value(command).ok()? else { return None };
    let word = |n: usize| redis::from_redis_value_ref::<String>(words.get(n)?).ok();
    let name = word(0)?.to_uppercase();
    let digest = match &*name {
        "EVALSHA" => word(1)?,
        "EVAL" => redis::Script::new(&word(1)?).get_hash().to_owned(),
        _ => return Some(name),
    };
    Some(format!("{name} {}", SCRIPTS.get(&digest).unwrap_or(&digest)))
}
