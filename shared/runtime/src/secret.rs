use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use aws_sdk_secretsmanager::Client;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

/// How long a value is good for, and how long after a reading that failed the next one begins.
const FRESH: Duration = Duration::from_secs(60);
/// How old a value may be that is given out while it is read again. Lambda freezes a process between requests: one that
/// wakes up after longer may have slept through a change of keys, and reads first.
const USABLE: Duration = Duration::from_secs(180);
/// Longest wait for a value if there is an old one: a request has to do more than this in its 9 s.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Secrets Manager did not give the value. Never says what it is.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// No answer, or a refusal.
    #[error("Secrets Manager did not give the secret")]
    SecretsManager(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An answer without a text.
    #[error("the secret has no text in it")]
    Empty,
    /// A text that is not what it should be.
    #[error("the secret is not of the right form")]
    Form(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another request asked while this one waited, in vain. Its log has the reason.
    #[error("the secret could not be read a moment ago")]
    InVain,
}

type Reading = Pin<Box<dyn Future<Output = Result<String, SecretError>> + Send>>;

/// A secret, read at its first use and kept by the process as a `T`. It is read again in the background, so that a
/// change is heard of within a minute and nobody waits for it; what is known holds if that fails, or if what is read
/// is no `T`.
pub struct Secret<T = String>(Arc<Inner<T>>);

struct Inner<T> {
    read: Box<dyn Fn() -> Reading + Send + Sync>,
    known: ArcSwapOption<Known<T>>,
    /// When the last reading ended, if it failed. Held during a reading, so that one reads for all.
    failed: Arc<Mutex<Option<Instant>>>,
}

struct Known<T> {
    text: String,
    value: Arc<T>,
    since: Instant,
}

impl<T> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
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
    /// The secret at `arn`.
    pub fn new(client: Client, arn: impl Into<String>) -> Self {
        let arn = arn.into();
        Self::read_by(move || {
            let get = client.get_secret_value().secret_id(&arn);
            Box::pin(async move {
                let output = get.send().await.map_err(|error| SecretError::SecretsManager(Box::new(error)))?;
                output.secret_string.filter(|text| !text.is_empty()).ok_or(SecretError::Empty)
            })
        })
    }

    fn read_by(read: impl Fn() -> Reading + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { read: Box::new(read), known: ArcSwapOption::empty(), failed: Arc::default() }))
    }

    /// The value.
    ///
    /// # Errors
    /// If there is none yet and Secrets Manager does not give one.
    pub async fn get(&self) -> Result<Arc<T>, SecretError> {
        let Some(known) = self.0.known.load_full() else {
            let asked = Instant::now();
            let failed = Arc::clone(&self.0.failed).lock_owned().await;
            return self.first(failed, asked).await;
        };
        match known.since.elapsed() {
            age if age < FRESH => {}
            age if age < USABLE => {
                if let Ok(failed) = Arc::clone(&self.0.failed).try_lock_owned() {
                    tokio::spawn(self.clone().again(failed));
                }
            }
            _ => {
                let secret = self.clone();
                // A task of its own: a request that ends early does not end it.
                let reading = tokio::spawn(async move {
                    let failed = Arc::clone(&secret.0.failed).lock_owned().await;
                    secret.again(failed).await;
                });
                let _ = tokio::time::timeout(MAX_WAIT, reading).await;
                return Ok(self.0.known.load_full().unwrap_or(known).value.clone());
            }
        }
        Ok(Arc::clone(&known.value))
    }

    async fn first(&self, mut failed: OwnedMutexGuard<Option<Instant>>, asked: Instant) -> Result<Arc<T>, SecretError> {
        if let Some(known) = self.0.known.load_full() {
            return Ok(Arc::clone(&known.value));
        }
        if failed.is_some_and(|at| at > asked) {
            return Err(SecretError::InVain);
        }
        let read = self.read().await;
        *failed = read.is_err().then(Instant::now);
        read
    }

    async fn again(self, mut failed: OwnedMutexGuard<Option<Instant>>) {
        let fresh = self.0.known.load().as_ref().is_some_and(|known| known.since.elapsed() < FRESH);
        if fresh || failed.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        let read = self.read().await;
        if let Err(error) = &read {
            tracing::error!(error = error as &dyn std::error::Error, "the secret as it was holds");
        }
        *failed = read.is_err().then(Instant::now);
    }

    async fn read(&self) -> Result<Arc<T>, SecretError> {
        let text = (self.0.read)().await?;
        let since = Instant::now();
        let known = self.0.known.load_full().filter(|known| known.text == text);
        let value = match known {
            Some(known) => Arc::clone(&known.value),
            None => Arc::new(text.parse().map_err(|error| SecretError::Form(Box::new(error)))?),
        };
        self.0.known.store(Some(Arc::new(Known { text, value: Arc::clone(&value), since })));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;

    use super::*;

    /// What the reader finds, and how often it looked.
    #[derive(Clone, Default)]
    struct Store(Arc<StdMutex<(Option<String>, u32)>>);

    impl Store {
        fn put(&self, text: Option<&str>) {
            self.0.lock().unwrap().0 = text.map(str::to_owned);
        }

        fn readings(&self) -> u32 {
            self.0.lock().unwrap().1
        }

        fn secret(&self) -> Secret<u32> {
            let store = self.clone();
            Secret::read_by(move || {
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

    /// Time is paused: it passes once all else waits.
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
    async fn who_slept_long_reads_first() {
        let store = Store::default();
        store.put(Some("1"));
        let secret = store.secret();
        secret.get().await.unwrap();
        store.put(Some("2"));
        tokio::time::advance(USABLE).await;
        let both = tokio::join!(secret.get(), secret.get());
        assert_eq!((*both.0.unwrap(), *both.1.unwrap(), store.readings()), (2, 2, 2));
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

    #[tokio::test(start_paused = true)]
    async fn a_request_that_gives_up_leaves_no_lock_behind() {
        let store = Store::default();
        store.put(Some("1"));
        let secret = store.secret();
        assert!(tokio::time::timeout(Duration::from_millis(10), secret.get()).await.is_err());
        assert_eq!(*secret.get().await.unwrap(), 1);
    }
}
