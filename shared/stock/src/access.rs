use std::str::FromStr;

use runtime::{MissingSetting, SdkConfig, Secret, optional_secret, optional_setting, setting};
use serde::Deserialize;

use crate::{Stock, StockError};

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

/// Why there is no way to Redis.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Nothing says where Redis is.
    #[error(transparent)]
    Missing(#[from] MissingSetting),
    /// The file of the authority is not there.
    #[error("REDIS_CA_FILE cannot be read")]
    Authority(#[source] std::io::Error),
    /// What the settings say is of no use.
    #[error(transparent)]
    Stock(#[from] StockError),
}

impl Stock {
    /// The stock that the function's settings tell of: `REDIS_URL`, the ARN of the [`Credentials`] in
    /// `REDIS_AUTH_SECRET_ARN` if Redis asks for some, and the authority in the file `REDIS_CA_FILE` if it is an own one.
    ///
    /// # Errors
    /// If a setting is missing or of no use. Whether Redis answers shows at the first call.
    pub fn from_settings(config: &SdkConfig) -> Result<Self, AccessError> {
        let authority = optional_setting("REDIS_CA_FILE").map(std::fs::read).transpose();
        let access = Access {
            url: setting("REDIS_URL")?,
            credentials: optional_secret(config, "REDIS_AUTH_SECRET_ARN"),
            authority: authority.map_err(AccessError::Authority)?,
        };
        Ok(Self::open(access)?)
    }
}
