use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cache::{Bounds, Clock, Refreshed};
use sale::UserId;

use crate::discovery::{DiscoveryError, Http, TIMEOUT};
use crate::keys::{IssuerKey, IssuerKeys};
use crate::token::{self, Expected, Refused};

/// The issuer is asked at most once in so long, whatever ids of keys tokens have in them.
const ASK_EVERY: Duration = Duration::from_secs(60);
/// Likewise, after it did not answer.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// After so long the issuer is asked again, and who connects waits for its answer: a key that it has withdrawn is not taken
/// for longer.
const FRESH_FOR: Duration = Duration::from_secs(60 * 60);
/// While the issuer does not answer its keys are good for so long: API Gateway keeps them for two hours as well.
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

/// What the log says whenever the keys cannot be read.
const NO_ANSWER: &str = "the issuer's keys did not come";

/// Who signs tokens, and what they must be for.
pub struct Issuer {
    expected: Arc<Expected>,
    keys: Refreshed<IssuerKeys, DiscoveryError>,
}

impl Issuer {
    /// The issuer at this address, whose tokens must be for one of `audience`: names with commas in between.
    pub fn new(url: impl Into<String>, audience: &str) -> Self {
        let audience: BTreeSet<String> =
            audience.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let expected = Arc::new(Expected { issuer: url.into(), audience });
        let (http, of) = (Arc::new(Http::new()), Arc::clone(&expected));
        let keys = Refreshed::new(NO_ANSWER, BOUNDS, Clock::system(), move |_| {
            let (http, of) = (Arc::clone(&http), Arc::clone(&of));
            Box::pin(async move { http.keys(&of.issuer).await })
        });
        Self { expected, keys }
    }

    /// Whose token it is.
    ///
    /// # Errors
    /// [`Refused`], if it is not a good one or that is not known.
    pub async fn user(&self, token: &str) -> Result<UserId, Refused> {
        let id = token::key_id(token)?;
        let keys = self.keys.get().await.map_err(|error| {
            error.log(NO_ANSWER);
            Refused::NoKeys
        })?;
        let key = match keys.get(&id) {
            Some(key) => key.clone(),
            None => self.new_key(&id).await.ok_or(Refused::BadToken)?,
        };
        token::user(token, &key, &self.expected)
    }

    /// The key of an id that was not among the keys: the issuer may have it since then.
    async fn new_key(&self, id: &str) -> Option<IssuerKey> {
        let keys = self.keys.no_older_than(ASK_EVERY).await.inspect_err(|error| error.log(NO_ANSWER)).ok()?;
        keys.get(id).cloned()
    }
}
