//! Proxies in front of all services of a function. They name each effect and can kill the function at any of them: before
//! the effect happens, or after it but before its answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use local::server::Server;
use local::upstream::{Upstream, target};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::recorder::Recorded;
use crate::resp::Connection;
use crate::seen::{Calm, Effect, Seen};

/// On which side of an effect the function dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// The request never arrives.
    Before,
    /// The request takes effect, but the answer never arrives.
    After,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub effect: Effect,
    pub when: When,
}

/// The end of the world of one run, shared by the proxies in front of each service.
#[derive(Debug)]
pub struct Fault {
    point: Option<Point>,
    seen: Mutex<Seen>,
    over: watch::Sender<bool>,
}

/// The scripts' names by their digests.
static SCRIPTS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let digest = |text: &str| redis::Script::new(text).get_hash().to_owned();
    stock::expanded::ALL.iter().map(|(name, text)| (digest(text), (*name).to_owned())).collect()
});

impl Fault {
    pub fn new(point: Option<Point>) -> Arc<Self> {
        Arc::new(Self { point, seen: Mutex::default(), over: watch::Sender::new(false) })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn effects(&self) -> BTreeSet<Effect> {
        self.seen().effects.clone()
    }

    /// How the services were when each effect began, if nothing that changes them was under way, and for a read until its
    /// answer. Dying before two effects with the same calm, or after such a read, leaves the same behind.
    pub fn calms(&self) -> BTreeMap<Effect, Calm> {
        self.seen().calms.clone()
    }

    /// Something may change now that no proxy sees.
    pub fn interrupt(&self) {
        self.seen().interrupt();
    }

    /// Runs `work` until it ends or is killed at the point. Returns whether it ended by itself. Either way, nothing that it
    /// began reaches a service any more.
    pub async fn run(&self, work: impl Future) -> bool {
        let mut over = self.over.subscribe();
        let died = async {
            let _ = over.wait_for(|over| *over).await;
        };
        tokio::select! {
            biased;
            () = died => {}
            _ = work => {}
        }
        !self.over.send_replace(true)
    }

    /// Proxies in front of Redis and AWS that name each effect, and stop once this fault has struck or its run is over. They
    /// may record the effects too.
    pub fn proxies(self: &Arc<Self>, redis: SocketAddr, aws: &str, recorded: Option<Recorded>) -> [Server; 2] {
        let (recorded, aws) = (recorded.map(Arc::new), Arc::new(Upstream::new(aws)));
        let (fault, of_redis) = (Arc::clone(self), recorded.clone());
        let redis = Server::tcp(move |client| {
            let (fault, recorded) = (Arc::clone(&fault), of_redis.clone());
            async move { pass_commands(client, redis, &fault, recorded.as_deref()).await }
        });
        let fault = Arc::clone(self);
        let answer = async move |headers: HeaderMap, body: Bytes| {
            let kind = target(&headers).rsplit('.').next().unwrap_or_default().to_owned();
            let effect = async {
                match &recorded {
                    Some(recorded) => recorded.ask_aws(&aws, headers, body).await,
                    None => aws.pass(&headers, body).await.ok(),
                }
            };
            match fault.pass(&kind, effect).await {
                Some(answer) => answer,
                None => pending().await,
            }
        };
        [redis, Server::http(Router::new().fallback(answer))]
    }

    /// Counts an effect and performs it, unless the run dies here or has died.
    async fn pass<T>(&self, kind: &str, effect: impl Future<Output = Option<T>>) -> Option<T> {
        if *self.over.borrow() {
            return None;
        }
        let begun = self.seen().begin(kind);
        let point = self.point.as_ref().filter(|point| point.effect == begun);
        let is_last = |when| point.is_some_and(|point| point.when == when);
        if is_last(When::Before) {
            self.over.send_replace(true);
            return None;
        }
        let answer = effect.await?;
        if is_last(When::After) {
            self.over.send_replace(true);
        }
        self.seen().end(begun);
        let is_over = *self.over.borrow();
        (!is_over).then_some(answer)
    }
}

/// Passes one command at a time, since pipelined commands are separate effects too.
async fn pass_commands(client: TcpStream, redis: SocketAddr, fault: &Fault, recorded: Option<&Recorded>) -> Option<()> {
    let (mut client, mut redis) = (Connection::new(client), Connection::new(TcpStream::connect(redis).await.ok()?));
    loop {
        let command = client.read().await?;
        let kind = kind_of(&command)?;
        let effect = async {
            match recorded {
                Some(recorded) => recorded.ask_redis(&kind, &command, &mut redis).await,
                None => redis.ask(&command).await,
            }
        };
        let answer = fault.pass(&kind, effect).await?;
        client.write(&answer).await?;
    }
}

/// The kind of a command: its first word, and the script that it runs.
fn kind_of(command: &[u8]) -> Option<String> {
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
