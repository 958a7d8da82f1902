use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use breaker::Broken;
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, ServerErrorKind};
use runtime::Secret;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::address::Address;
use crate::breakers::{Breakers, is_unanswered};
use crate::link::{Link, Target};
use crate::{Access, Credentials, StockError};

/// How old a link to a cluster is before it is made anew because somebody had no answer.
const RENEW_AFTER: Duration = Duration::from_secs(1);
/// Longest wait for a new link to a cluster.
const RENEW_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that is not asked for a moment when Redis does not answer. Its clones are one.
#[derive(Clone)]
pub(crate) struct RedisConnection(Arc<Inner>);

struct Inner {
    target: Target,
    credentials: Option<Secret<Credentials>>,
    opened: ArcSwapOption<Opened>,
    opening: Mutex<()>,
    renewing: Semaphore,
    breakers: Breakers,
}

struct Opened {
    link: Link,
    credentials: Option<Arc<Credentials>>,
    since: Instant,
}

impl RedisConnection {
    pub(crate) fn new(access: Access) -> Result<Self, RedisError> {
        // The provider of the AWS clients, so that a binary has one. Whoever installed one before meant it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let target = Target { address: Address::parse(&access.url)?, authority: access.authority };
        let breakers = match target.address {
            Address::Node(_) => Breakers::of_a_node(),
            Address::Cluster(_) => Breakers::of_a_cluster(),
        };
        Ok(Self(Arc::new(Inner {
            target,
            credentials: access.credentials,
            opened: ArcSwapOption::empty(),
            opening: Mutex::default(),
            renewing: Semaphore::new(1),
            breakers,
        })))
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StockError> {
        let credentials = match &self.0.credentials {
            Some(secret) => Some(secret.get().await?),
            None => None,
        };
        let opened = self.opened(credentials).map_err(StockError::Redis)?;
        let asking = async {
            let answer = opened.link.ask(command).await;
            if let Err(error) = &answer {
                self.mend(&opened, error);
            }
            answer
        };
        self.0.breakers.before(command).call(is_unanswered, asking).await.map_err(|broken| match broken {
            Broken::Open => StockError::Open,
            Broken::Failed(error) => StockError::Redis(error),
        })
    }

    /// The link, with these credentials: one with others is for the calls that are under way.
    fn opened(&self, credentials: Option<Arc<Credentials>>) -> Result<Arc<Opened>, RedisError> {
        let known = || self.0.opened.load_full().filter(|opened| opened.credentials == credentials);
        if let Some(opened) = known() {
            return Ok(opened);
        }
        let _opening = self.0.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known() {
            return Ok(opened);
        }
        let link = self.0.target.link(credentials.as_deref())?;
        let opened = Arc::new(Opened { link, credentials, since: Instant::now() });
        self.0.opened.store(Some(Arc::clone(&opened)));
        Ok(opened)
    }

    /// Has later calls connect anew where the link does not do so by itself. Calls under way keep the old one; of many
    /// that heard the same, the first replaces it.
    fn mend(&self, opened: &Arc<Opened>, error: &RedisError) {
        match &self.0.target.address {
            // A node that is gone without a word leaves a connection on which nothing ever comes, and which is not known
            // to be lost for a quarter of an hour. One that became a replica keeps its connections.
            Address::Node(_) if error.is_timeout() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly) => {
                if let Ok(link) = self.0.target.link(opened.credentials.as_deref()) {
                    self.replace(opened, link);
                }
            }
            Address::Cluster(_) if is_unanswered(error) && opened.since.elapsed() >= RENEW_AFTER => {
                tokio::spawn(self.clone().renew(Arc::clone(opened)));
            }
            _ => {}
        }
    }

    /// The crate's link to a cluster keeps asking a node that is silent and does not look for its successor. A new one
    /// begins with the map as it is now. It is made beside the old one, through which the other shards answer meanwhile.
    async fn renew(self, silent: Arc<Opened>) {
        let Ok(_renewing) = self.0.renewing.try_acquire() else { return };
        let current = self.0.opened.load();
        let Address::Cluster(nodes) = &self.0.target.address else { return };
        if !current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &silent)) {
            return;
        }
        drop(current);
        let connecting = self.0.target.connected(nodes, silent.credentials.as_deref());
        match timeout(RENEW_TIMEOUT, connecting).await {
            Ok(Ok(link)) => self.replace(&silent, link),
            Ok(Err(error)) => tracing::warn!(error = &error as &dyn std::error::Error, "no new link to the cluster"),
            Err(_) => tracing::warn!("no new link to the cluster in time"),
        }
    }

    fn replace(&self, old: &Arc<Opened>, link: Link) {
        let fresh = Opened { link, credentials: old.credentials.clone(), since: Instant::now() };
        self.0.opened.compare_and_swap(&Some(Arc::clone(old)), Some(Arc::new(fresh)));
    }
}
