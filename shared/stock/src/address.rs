use std::str::FromStr;

use redis::{ConnectionInfo, IntoConnectionInfo, RedisError};
use runtime::{Clock, Secret};
use serde::Deserialize;

/// The suffix of a scheme that means a cluster: `redis+cluster://` and `rediss+cluster://`.
const CLUSTER: &str = "+cluster";

#[derive(Debug)]
pub struct Access {
    /// `redis://HOST:PORT` is a single node. `redis+cluster://HOST:PORT` is a node of a cluster that knows the others,
    /// or its configuration endpoint. `rediss://` and `rediss+cluster://` are the same with TLS.
    pub url: String,
    pub credentials: Option<Secret<Credentials>>,
    pub authority: Option<Vec<u8>>,
    pub clock: Clock,
}

#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Credentials {
    pub(crate) username: String,
    pub(crate) password: String,
}

impl FromStr for Credentials {
    type Err = serde_json::Error;

    fn from_str(secret: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(secret)
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Address {
    Node(Box<ConnectionInfo>),
    /// Some nodes of a cluster, which know the others.
    Cluster(Vec<ConnectionInfo>),
}

impl Address {
    /// Parses `SCHEME://[USER:PASSWORD@]HOST:PORT`; for a cluster, any number of `HOST:PORT` separated by commas.
    pub(crate) fn parse(url: &str) -> Result<Self, RedisError> {
        let cluster = url.split_once("://").and_then(|(scheme, rest)| Some((scheme.strip_suffix(CLUSTER)?, rest)));
        let Some((scheme, rest)) = cluster else {
            return Ok(Self::Node(Box::new(url.into_connection_info()?)));
        };
        let (user_at, hosts) = rest.split_at(rest.rfind('@').map_or(0, |at| at + 1));
        let nodes = hosts.split(',').map(|host| format!("{scheme}://{user_at}{host}").into_connection_info());
        Ok(Self::Cluster(nodes.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(url: &str) -> (bool, Vec<(String, Option<String>)>) {
        let (cluster, nodes) = match Address::parse(url).unwrap() {
            Address::Node(node) => (false, vec![*node]),
            Address::Cluster(nodes) => (true, nodes),
        };
        let told = |node: &ConnectionInfo| {
            let password = node.redis_settings().password().map(str::to_owned);
            let tls = matches!(node.addr(), redis::ConnectionAddr::TcpTls { .. });
            (format!("{tls} {}", node.addr()), password)
        };
        (cluster, nodes.iter().map(told).collect())
    }

    #[test]
    fn the_scheme_tells_a_node_from_a_cluster_and_tls_from_none() {
        assert_eq!(nodes("redis://h:1"), (false, vec![("false h:1".into(), None)]));
        assert_eq!(nodes("rediss://h:1"), (false, vec![("true h:1".into(), None)]));
        assert_eq!(nodes("redis+cluster://h:1"), (true, vec![("false h:1".into(), None)]));
        let two = vec![("true g:1".into(), Some("w@s".into())), ("true h:2".into(), Some("w@s".into()))];
        assert_eq!(nodes("rediss+cluster://shop:w%40s@g:1,h:2"), (true, two));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["", "nowhere", "http://h:1", "redis+cluster://", "http+cluster://h:1", "redis+cluster://h:1,"] {
            assert!(Address::parse(url).is_err(), "{url:?}");
        }
    }
}
