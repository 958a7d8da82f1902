use std::str::FromStr;

use runtime::{Clock, Secret};
use serde::Deserialize;

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
