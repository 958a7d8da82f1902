use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use runtime::Clock;
use runtime::cache::{Bounds, Refreshed};
use sale::UserId;

use crate::discovery::{self, DiscoveryError, TIMEOUT};
use crate::keys::IssuerKeys;
use crate::token::{self, Expected, TokenRefused};

/// The issuer is asked at most this often, whatever key ids tokens carry.
const ASK_EVERY: Duration = Duration::from_secs(60);
/// The same, after a failure.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// After this time the issuer is asked again while the client waits, so a withdrawn key is not accepted for longer.
const FRESH_FOR: Duration = Duration::from_secs(60 * 60);
/// How long the keys are used while the issuer does not answer: API Gateway also keeps them for two hours.
const GOOD_FOR: Duration = Duration::from_secs(2 * 60 * 60);
const _: () = assert!(ASK_EVERY.as_secs() < FRESH_FOR.as_secs());

const BOUNDS: Bounds = Bounds {
    fresh: FRESH_FOR,
    usable: FRESH_FOR,
    held: GOOD_FOR,
    read_timeout: TIMEOUT,
    wait: TIMEOUT,
    retry_after: TRY_EVERY,
    first_retry_after: TRY_EVERY,
}
.checked();

const NO_ANSWER: &str = "cannot read the issuer's keys";

pub struct Issuer {
    expected: Arc<Expected>,
    keys: Refreshed<IssuerKeys, DiscoveryError>,
}

impl Issuer {
    /// The issuer at `url`, whose tokens must be for one of `audience`: names separated by commas.
    pub fn new(url: impl Into<String>, audience: &str) -> Self {
        pass::jwt::use_ring();
        let audience: BTreeSet<String> =
            audience.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let expected = Arc::new(Expected { issuer: url.into(), audience });
        let of = Arc::clone(&expected);
        let keys = Refreshed::new(NO_ANSWER, BOUNDS, Clock::system(), move |_| {
            let of = Arc::clone(&of);
            Box::pin(async move { discovery::keys(&of.issuer).await })
        });
        Self { expected, keys }
    }

    /// The token's user. Fails with [`TokenRefused`] if the token is invalid, or cannot be verified now.
    pub async fn user(&self, token: &str) -> Result<UserId, TokenRefused> {
        let id = token::key_id(token)?;
        let keys = self.keys.get().await.map_err(|error| {
            error.log(NO_ANSWER);
            TokenRefused::NoKeys
        })?;
        let key = match keys.get(&id) {
            Some(key) => key.clone(),
            // The issuer may have added it.
            None => {
                let keys = self.keys.no_older_than(ASK_EVERY).await.inspect_err(|error| error.log(NO_ANSWER));
                keys.ok().and_then(|keys| keys.get(&id).cloned()).ok_or(TokenRefused::BadToken)?
            }
        };
        token::user(token, &key, &self.expected)
    }
}
