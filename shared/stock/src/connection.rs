use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, ServerErrorKind};
use runtime::breaker::{self, Broken};
use runtime::{Clock, Secret};

use crate::StockError;
use crate::address::{Access, Address, Credentials};
use crate::breakers::{Breakers, is_unanswered};
use crate::current_link::{self, CurrentLink};
use crate::link::{Link, RESPONSE_TIMEOUT, Target};

/// How many fields, ranges or elements are read at a time, so that reading holds up nobody.
pub(crate) const PAGE: usize = 1000;
/// The minimum age at which a link to a cluster is replaced because somebody got no answer.
const RENEW_AFTER: Duration = Duration::from_secs(1);
const RENEW_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection behind circuit breakers. Clones share it.
#[derive(Clone)]
pub(crate) struct RedisConnection(Arc<Inner>);

struct Inner {
    target: Target,
    credentials: Option<Secret<Credentials>>,
    current: CurrentLink<Link, Credentials>,
    breakers: Breakers,
    clock: Clock,
}

type Opened = current_link::Opened<Link, Credentials>;

impl RedisConnection {
    pub(crate) fn new(access: Access) -> Result<Self, RedisError> {
        // The same provider as the AWS clients', so that a binary has only one. One that is already installed stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let patience = access.clock.limit(RESPONSE_TIMEOUT);
        let target = Target { address: Address::parse(&access.url)?, authority: access.authority, patience };
        let breakers = Breakers::of(&target.address, access.clock);
        let (current, clock) = (CurrentLink::new(), access.clock);
        Ok(Self(Arc::new(Inner { target, credentials: access.credentials, current, breakers, clock })))
    }

    /// How long to wait for several calls that should take at most `limit`.
    pub(crate) fn limit(&self, limit: Duration) -> Duration {
        self.0.clock.limit(limit)
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StockError> {
        let credentials = match &self.0.credentials {
            Some(secret) => Some(secret.get().await?),
            None => None,
        };
        let opened = self.0.current.opened(credentials, |credentials| self.0.target.link(credentials));
        let opened = opened.map_err(StockError::Redis)?;
        let asking = async {
            let answer = opened.link.ask(command).await;
            if let Err(error) = &answer {
                self.mend(&opened, error);
            }
            answer
        };
        self.0.breakers.before(command).call(is_unanswered, asking).await.map_err(|broken| match broken {
            Broken::Open => StockError::Open(breaker::Open),
            Broken::Failed(error) => StockError::Redis(error),
        })
    }

    /// All fields of a hash, read in pages, so that reading holds up nobody.
    pub(crate) async fn fields<T: FromRedisValue>(&self, key: &str) -> Result<BTreeMap<String, T>, StockError> {
        // A page may have a field again while the hash grows; the map keeps one.
        let (mut fields, mut cursor) = (BTreeMap::new(), 0u64);
        loop {
            let (next, page): (u64, Vec<(String, T)>) =
                self.ask(redis::cmd("HSCAN").arg(key).arg(cursor).arg("COUNT").arg(PAGE)).await?;
            fields.extend(page);
            if next == 0 {
                return Ok(fields);
            }
            cursor = next;
        }
    }

    /// Makes later calls use a new connection, where the link does not reconnect by itself. Calls under way keep the
    /// old one; if many get the same error, only the first replaces it.
    fn mend(&self, opened: &Arc<Opened>, error: &RedisError) {
        match &self.0.target.address {
            // A node that disappears silently leaves a connection on which nothing ever arrives, and whose loss is only
            // detected after a quarter of an hour. A node that became a replica keeps its connections open.
            Address::Node(_) if error.is_timeout() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly) => {
                if let Ok(link) = self.0.target.link(opened.credentials.as_deref()) {
                    self.0.current.replace(opened, link);
                }
            }
            Address::Cluster(_) if is_unanswered(error) && opened.age() >= RENEW_AFTER => {
                tokio::spawn(self.clone().renew(Arc::clone(opened)));
            }
            _ => {}
        }
    }

    /// The crate's link to a cluster keeps asking a silent node and does not look for its successor. A new link starts
    /// with the current map. It is made in parallel, while the other shards still answer through the old one.
    async fn renew(self, silent: Arc<Opened>) {
        let Address::Cluster(nodes) = &self.0.target.address else { return };
        let connecting = self.0.target.connected(nodes, silent.credentials.as_deref());
        match self.0.current.renew(&silent, RENEW_TIMEOUT, connecting).await {
            Ok(()) => {}
            Err(Some(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "could not make a new link to the cluster")
            }
            Err(None) => tracing::warn!("could not make a new link to the cluster in time"),
        }
    }
}
