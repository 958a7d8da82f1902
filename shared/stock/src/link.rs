use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::{Client, Cmd, ConnectionInfo, FromRedisValue, RedisError, TlsCertificates};
use tokio::time::{Instant, timeout_at};

use crate::Credentials;
use crate::address::Address;

/// The longest wait for an answer, or for a connection, including TLS. A script takes well under a millisecond; anything
/// slower than this is an outage, and the caller must report it while its client still waits.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1000);
const RECONNECTS: usize = 1;

/// The longest wait for one node of a cluster, for a connection or an answer. While the cluster's map is read again all
/// calls wait, so a node that disappeared silently must not use up the time of calls to other nodes.
const NODE_TIMEOUT: Duration = Duration::from_millis(400);
const _: () = assert!(NODE_TIMEOUT.as_millis() * 2 < RESPONSE_TIMEOUT.as_millis());
/// How often a cluster is asked again within [`RESPONSE_TIMEOUT`], at the node that it names or after a pause: moving
/// slots and failovers often take only some hundred milliseconds.
const CLUSTER_RETRIES: u32 = 8;
const CLUSTER_PAUSES_MS: [u64; 2] = [10, 200];

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) authority: Option<Vec<u8>>,
    /// How long one node may take to connect and to answer.
    pub(crate) patience: Duration,
}

/// A connection that reconnects by itself. Clones share it.
#[derive(Clone)]
pub(crate) enum Link {
    /// To one node, which may take this long to answer.
    Node(ConnectionManager, Duration),
    /// To every node of a cluster. It finds the node that has a key, follows moved keys, and retries when told to.
    Cluster(ClusterConnection),
}

impl Target {
    pub(crate) fn link(&self, credentials: Option<&Credentials>) -> Result<Link, RedisError> {
        match &self.address {
            Address::Node(node) => {
                let config = ConnectionManagerConfig::new()
                    .set_response_timeout(Some(self.patience))
                    .set_connection_timeout(Some(self.patience))
                    .set_number_of_retries(RECONNECTS);
                let node = ConnectionManager::new_lazy_with_config(self.node(node, credentials)?, config)?;
                Ok(Link::Node(node, self.patience))
            }
            Address::Cluster(nodes) => {
                let cluster = self.cluster(nodes, credentials)?;
                Ok(Link::Cluster(cluster.get_pending_async_connection_with_config(ClusterConfig::new())))
            }
        }
    }

    pub(crate) async fn connected(
        &self,
        nodes: &[ConnectionInfo],
        credentials: Option<&Credentials>,
    ) -> Result<Link, RedisError> {
        Ok(Link::Cluster(self.cluster(nodes, credentials)?.get_async_connection().await?))
    }

    fn node(&self, node: &ConnectionInfo, credentials: Option<&Credentials>) -> Result<Client, RedisError> {
        let mut node = node.clone();
        if let Some(Credentials { username, password }) = credentials {
            let settings = node.redis_settings().clone().set_username(username).set_password(password);
            node = node.set_redis_settings(settings);
        }
        match self.certificates() {
            Some(certificates) => Client::build_with_tls(node, certificates),
            None => Client::open(node),
        }
    }

    fn cluster(
        &self,
        nodes: &[ConnectionInfo],
        credentials: Option<&Credentials>,
    ) -> Result<ClusterClient, RedisError> {
        let [shortest, longest] = CLUSTER_PAUSES_MS;
        let mut builder = ClusterClient::builder(nodes.to_vec())
            .overall_response_timeout(Some(RESPONSE_TIMEOUT))
            .response_timeout(NODE_TIMEOUT)
            .connection_timeout(NODE_TIMEOUT)
            .retries(CLUSTER_RETRIES)
            .min_retry_wait(shortest)
            .max_retry_wait(longest);
        if let Some(Credentials { username, password }) = credentials {
            builder = builder.username(username).password(password);
        }
        if let Some(certificates) = self.certificates() {
            builder = builder.certs(certificates);
        }
        builder.build()
    }

    fn certificates(&self) -> Option<TlsCertificates> {
        let root_cert = self.authority.clone();
        root_cert.is_some().then_some(TlsCertificates { client_tls: None, root_cert })
    }
}

impl Link {
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        match self {
            Self::Node(node, patience) => {
                let (mut node, deadline) = (node.clone(), Instant::now() + *patience);
                match command.query_async(&mut node).await {
                    // After a failover the first call finds the connection lost, or the reconnection that failed
                    // meanwhile. Whether the command ran is unknown, but it either reads or may run twice.
                    Err(error) if error.is_io_error() && !error.is_timeout() => {
                        // Boxed since it is rare: otherwise every call would be larger.
                        let again = Box::pin(timeout_at(deadline, command.query_async(&mut node)));
                        again.await.unwrap_or(Err(error))
                    }
                    answer => answer,
                }
            }
            Self::Cluster(cluster) => command.query_async(&mut cluster.clone()).await,
        }
    }
}
