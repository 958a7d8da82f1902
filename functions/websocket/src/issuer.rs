use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sale::UserId;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::discovery::Http;
use crate::keys::{Key, Keys};
use crate::token::{self, Expected, Refused};

/// The issuer is asked at most once in so long, whatever ids of keys tokens have in them.
const ASK_EVERY: Duration = Duration::from_secs(60);
/// Likewise, after it did not answer.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// After so long the issuer is asked again.
const FRESH_FOR: Duration = Duration::from_secs(60 * 60);
/// While the issuer does not answer its keys are good for so long: API Gateway keeps them for two hours as well.
const GOOD_FOR: Duration = Duration::from_secs(2 * 60 * 60);
const _: () = assert!(ASK_EVERY.as_secs() < FRESH_FOR.as_secs() && FRESH_FOR.as_secs() < GOOD_FOR.as_secs());

/// Who signs tokens, and what they must be for.
pub struct Issuer {
    expected: Expected,
    http: Http,
    known: RwLock<Option<Known>>,
    /// From when on it may be asked again. Held while it is asked, so that one task asks and the others wait for the answer.
    ask_after: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Known {
    keys: Arc<Keys>,
    since: Instant,
}

impl Issuer {
    /// The issuer at this address, whose tokens must be for one of `audience`: names with commas in between.
    pub fn new(url: impl Into<String>, audience: &str) -> Self {
        let audience: BTreeSet<String> =
            audience.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let expected = Expected { issuer: url.into(), audience };
        Self { expected, http: Http::new(), known: RwLock::default(), ask_after: Mutex::default() }
    }

    /// Whose token it is.
    ///
    /// # Errors
    /// [`Refused`], if it is not a good one or that is not known.
    pub async fn user(&self, token: &str) -> Result<UserId, Refused> {
        let id = token::key_id(token)?;
        let key = match self.key(&id, FRESH_FOR) {
            Some(key) => key,
            None => {
                self.ask(&id).await;
                self.key(&id, GOOD_FOR).ok_or(self.why_not())?
            }
        };
        token::user(token, &key, &self.expected)
    }

    /// The key of this id, if it came no longer ago.
    fn key(&self, id: &str, within: Duration) -> Option<Key> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.since.elapsed() < within)?.keys.get(id).cloned()
    }

    fn why_not(&self) -> Refused {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let good = known.as_ref().is_some_and(|known| known.since.elapsed() < GOOD_FOR);
        if good { Refused::BadToken } else { Refused::NoKeys }
    }

    /// Asks the issuer for its keys, unless that was a moment ago or another task just did.
    async fn ask(&self, id: &str) {
        let mut ask_after = self.ask_after.lock().await;
        if self.key(id, FRESH_FOR).is_some() || ask_after.is_some_and(|at| Instant::now() < at) {
            return;
        }
        // A task that is cut off while it asks counts as one that got no answer.
        *ask_after = Some(Instant::now() + TRY_EVERY);
        match self.http.keys(&self.expected.issuer).await {
            Ok(keys) => {
                let known = Known { keys: Arc::new(keys), since: Instant::now() };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
                *ask_after = Some(Instant::now() + ASK_EVERY);
            }
            Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "the issuer's keys did not come"),
        }
    }
}
