use std::str::FromStr;

use runtime::Secret;
use serde::Deserialize;

/// Where Redis is and how one gets in.
#[derive(Debug)]
pub struct Access {
    /// `redis://HOST:PORT` is one node and `redis+cluster://HOST:PORT` a node of a cluster that knows the others, or its
    /// configuration endpoint; `rediss://` and `rediss+cluster://` are the same with TLS.
    pub url: String,
    /// Who comes, if the address does not say so.
    pub credentials: Option<Secret<Credentials>>,
    /// Who may vouch for Redis, as PEM, if not the authorities that the machine trusts.
    pub authority: Option<Vec<u8>>,
}

/// A name and a password, as the secret has them.
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
