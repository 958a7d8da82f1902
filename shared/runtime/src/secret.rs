use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::AwsClient;
use crate::aws::CALL_TIMEOUT;
use crate::cache::{Bounds, Clock, Reading, RefreshError, Refreshed};

/// The age up to which a value is used without reading it again, and the pause after a failed read.
const FRESH: Duration = Duration::from_secs(60);
/// The age up to which a value is used while it is read again. Lambda freezes a process between requests, and the first
/// request after a pause should not wait. In a rotation, the old key therefore stays in its secret for longer than this
/// after the new one was added. A process that slept for longer reads first.
const USABLE: Duration = Duration::from_secs(15 * 60);
/// The longest wait for a value if there is an old one: a request has more to do in its 9 s.
const MAX_WAIT: Duration = Duration::from_secs(3);

const BOUNDS: Bounds = Bounds {
    fresh: FRESH,
    usable: USABLE,
    held: Duration::MAX,
    read_timeout: CALL_TIMEOUT,
    wait: MAX_WAIT,
    retry_after: FRESH,
    // Nothing works without a first value, so the next caller tries again.
    first_retry_after: Duration::ZERO,
}
.checked();

/// Secrets Manager did not return the value. Never contains the value.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("Secrets Manager did not give the secret")]
    SecretsManager(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the secret has no text in it")]
    Empty,
    #[error("the secret does not have the required form")]
    Form(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another caller's read failed while this one waited. The log has the reason.
    #[error("the secret could not be read a moment ago")]
    InVain,
}

impl From<RefreshError<Self>> for SecretError {
    fn from(error: RefreshError<Self>) -> Self {
        match error {
            RefreshError::Read(error) => error,
            RefreshError::TimedOut => Self::SecretsManager(Box::new(RefreshError::<Self>::TimedOut)),
            RefreshError::JustFailed => Self::InVain,
        }
    }
}

/// Reads the text of the secret with this name or ARN, once. Fails if Secrets Manager does not return one.
pub async fn secret_text(secrets_manager: &AwsClient, id: &str) -> Result<String, SecretError> {
    let read = secrets_manager.call("secretsmanager.GetSecretValue", &json!({ "SecretId": id })).await;
    let read = read.map_err(|error| SecretError::SecretsManager(Box::new(error)))?;
    read["SecretString"].as_str().filter(|text| !text.is_empty()).map(str::to_owned).ok_or(SecretError::Empty)
}

/// A secret that is read on first use, parsed to a `T` and cached by the process. It is refreshed in the background, so
/// a change takes effect within a minute and nobody waits for it. If a refresh fails, or its result cannot be parsed,
/// the known value stays.
pub struct Secret<T = String>(Refreshed<SecretValue<T>, SecretError>);

struct SecretValue<T> {
    text: String,
    value: Arc<T>,
}

impl<T> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl<T> Secret<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
{
    pub fn new(secrets_manager: AwsClient, arn: impl Into<String>, clock: Clock) -> Self {
        let arn: String = arn.into();
        Self::read_by(clock, move || {
            let (secrets_manager, arn) = (secrets_manager.clone(), arn.clone());
            Box::pin(async move { secret_text(&secrets_manager, &arn).await })
        })
    }

    fn read_by(clock: Clock, read: impl Fn() -> Reading<String, SecretError> + Send + Sync + 'static) -> Self {
        let on_failure = "cannot read the secret; using the last value";
        Self(Refreshed::new(on_failure, BOUNDS, clock, move |before: Option<Arc<SecretValue<T>>>| {
            let text = read();
            Box::pin(async move {
                let text = text.await?;
                // The same text stays the same value, so that whoever keeps it sees that nothing has changed.
                let value = match before.filter(|before| before.text == text) {
                    Some(before) => Arc::clone(&before.value),
                    None => Arc::new(text.parse().map_err(|error| SecretError::Form(Box::new(error)))?),
                };
                Ok(SecretValue { text, value })
            })
        }))
    }

    /// The value. Fails if it has not been read yet and Secrets Manager does not return it.
    pub async fn get(&self) -> Result<Arc<T>, SecretError> {
        Ok(Arc::clone(&self.0.get().await?.value))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// The text that reads return, and how many reads there were.
    #[derive(Clone, Default)]
    struct Store(Arc<Mutex<(Option<String>, u32)>>);

    impl Store {
        fn put(&self, text: Option<&str>) {
            self.0.lock().unwrap().0 = text.map(str::to_owned);
        }

        fn readings(&self) -> u32 {
            self.0.lock().unwrap().1
        }

        fn secret(&self) -> Secret<u32> {
            let store = self.clone();
            Secret::read_by(Clock::system(), move || {
                let store = store.clone();
                Box::pin(async move {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    let mut store = store.0.lock().unwrap();
                    store.1 += 1;
                    store.0.clone().ok_or(SecretError::Empty)
                })
            })
        }
    }

    /// Time is paused: it passes once everything else waits.
    async fn settle() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_reads_for_all_and_again_after_a_minute_in_the_background() {
        let store = Store::default();
        store.put(Some("1"));
        let secret = store.secret();
        let both = tokio::join!(secret.get(), secret.get());
        assert_eq!((*both.0.unwrap(), *both.1.unwrap(), store.readings()), (1, 1, 1));
        store.put(Some("2"));
        tokio::time::advance(FRESH - Duration::from_secs(1)).await;
        assert_eq!((*secret.get().await.unwrap(), store.readings()), (1, 1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(*secret.get().await.unwrap(), 1, "nobody waits");
        assert_eq!(*secret.get().await.unwrap(), 1);
        settle().await;
        assert_eq!((*secret.get().await.unwrap(), store.readings()), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_holds_through_failures_and_nonsense() {
        let store = Store::default();
        store.put(Some("1"));
        let secret = store.secret();
        secret.get().await.unwrap();
        for (found, readings) in [(None, 2), (Some("nonsense"), 3)] {
            store.put(found);
            tokio::time::advance(FRESH).await;
            for _ in 0..3 {
                assert_eq!(*secret.get().await.unwrap(), 1);
                settle().await;
            }
            assert_eq!(store.readings(), readings, "not again at once");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_reading_that_fails_fails_all_that_wait_and_is_tried_again() {
        let store = Store::default();
        let secret = store.secret();
        let both = tokio::join!(secret.get(), secret.get());
        assert!(matches!(both, (Err(SecretError::Empty), Err(SecretError::InVain))));
        store.put(Some("1"));
        assert_eq!(*secret.get().await.unwrap(), 1);
    }
}
