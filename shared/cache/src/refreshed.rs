use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::moment::Moment;

/// How old a value may be, and how often it is read. [`Bounds::checked`] makes the compiler check that they fit each other.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How long a value is served as it is.
    pub fresh: Duration,
    /// How old a value may be that is served while one task reads it again. Beyond it callers wait for a reading.
    pub usable: Duration,
    /// How long the last value is served if it cannot be read again.
    pub held: Duration,
    /// Longest reading.
    pub read_timeout: Duration,
    /// Longest wait for a reading if there is a value that can be served instead. The reading goes on.
    pub wait: Duration,
    /// Pause after a reading that failed, so that callers do not add to the load of what is already overloaded.
    pub retry_after: Duration,
    /// The same while there is no value yet: callers hear the error until it is over.
    pub first_retry_after: Duration,
}

impl Bounds {
    /// Checks that the bounds fit each other. Use it in a constant, so that the compiler checks.
    ///
    /// # Panics
    /// If they do not.
    #[must_use]
    pub const fn checked(self) -> Self {
        assert!(self.fresh.as_nanos() <= self.usable.as_nanos() && self.usable.as_nanos() <= self.held.as_nanos());
        assert!(self.failing().as_nanos() < self.held.as_nanos());
        assert!(self.first_retry_after.as_nanos() <= self.retry_after.as_nanos());
        self
    }

    /// How long after the start of a failed reading callers get the last value at once instead of waiting for the next one.
    /// It covers that reading, the pause and the next reading, so that an outage makes nobody wait while calls keep coming.
    const fn failing(&self) -> Duration {
        self.read_timeout.saturating_mul(2).saturating_add(self.retry_after).saturating_add(Duration::from_secs(1))
    }
}

/// Why there is no value.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError<E> {
    /// The reading failed.
    #[error(transparent)]
    Read(E),
    /// The reading took too long.
    #[error("out of time")]
    TimedOut,
    /// A reading failed a moment ago. The caller who waited for that one got its error.
    #[error("it could not be read a moment ago")]
    JustFailed,
}

impl<E: std::error::Error + 'static> RefreshError<E> {
    /// Logs why a reading failed, under `message`: one line for each reading, since a caller who came just after it logs nothing.
    pub fn log(&self, message: &'static str) {
        if !matches!(self, Self::JustFailed) {
            tracing::error!(error = self as &dyn std::error::Error, "{message}");
        }
    }
}

/// One reading of a value.
pub type Reading<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Begins a reading, given the last value.
type Read<T, E> = dyn Fn(Option<Arc<T>>) -> Reading<T, E> + Send + Sync;

/// A value that is refreshed as it is used: served from memory while one task reads it again, and held for a while if it
/// cannot be read. Clones share the value.
pub struct Refreshed<T, E>(Arc<Inner<T, E>>);

struct Inner<T, E> {
    /// What the log says when the value cannot be read and the last one is served.
    on_failure: &'static str,
    bounds: Bounds,
    clock: Clock,
    read: Box<Read<T, E>>,
    known: ArcSwapOption<Known<T>>,
    failed: ArcSwapOption<Failed>,
    /// Held during a reading, so that one reads for all.
    reading: Arc<Mutex<()>>,
}

struct Known<T> {
    value: Arc<T>,
    /// When its reading began: what was written since may not be in it.
    began: Moment,
}

/// The last reading, if it failed.
struct Failed {
    began: Moment,
    ended: Moment,
}

impl<T, E> Clone for Refreshed<T, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, E> Refreshed<T, E>
where
    T: Send + Sync + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    /// A value that is not read yet. The log says `on_failure` when it cannot be read and the last one is served.
    pub fn new(
        on_failure: &'static str,
        bounds: Bounds,
        clock: Clock,
        read: impl Fn(Option<Arc<T>>) -> Reading<T, E> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            on_failure,
            bounds,
            clock,
            read: Box::new(read),
            known: ArcSwapOption::empty(),
            failed: ArcSwapOption::empty(),
            reading: Arc::default(),
        }))
    }

    /// The last value, however old.
    pub fn last(&self) -> Option<Arc<T>> {
        self.0.known.load().as_ref().map(|known| Arc::clone(&known.value))
    }

    /// The value, if it can be served without waiting. If it is not fresh, starts a task that reads it again.
    pub fn at_hand(&self, now: Moment) -> Option<Arc<T>> {
        let known = self.0.known.load();
        let known = known.as_ref()?;
        let (age, bounds) = (now.since(known.began), &self.0.bounds);
        if age >= bounds.fresh {
            if age >= bounds.usable && !(age < bounds.held && self.0.is_failing(now)) {
                return None;
            }
            self.read_beside(now);
        }
        Some(Arc::clone(&known.value))
    }

    /// The value, at most `usable` old. If it cannot be read, the last value for as long as that is `held`.
    ///
    /// # Errors
    /// If it cannot be read and there is no last one.
    pub async fn get(&self) -> Result<Arc<T>, RefreshError<E>> {
        let now = Moment::now(self.0.clock);
        if let Some(value) = self.at_hand(now) {
            return Ok(value);
        }
        let usable = self.0.bounds.usable;
        let Some(held) = self.0.no_older_than(self.0.bounds.held, now) else { return self.no_older_than(usable).await };
        let again = self.clone();
        // A task of its own: a caller that gives up does not end it.
        let reading = tokio::spawn(async move {
            if let Err(error) = again.no_older_than(usable).await {
                error.log(again.0.on_failure);
            }
        });
        let _ = tokio::time::timeout(self.0.bounds.wait, reading).await;
        Ok(self.last().unwrap_or(held))
    }

    /// The value, read again if its last reading began longer ago than `oldest`.
    ///
    /// # Errors
    /// If it cannot be read, or could not a moment ago.
    pub async fn no_older_than(&self, oldest: Duration) -> Result<Arc<T>, RefreshError<E>> {
        let failed_before = self.0.failed.load_full();
        let _reading = self.0.reading.lock().await;
        let now = Moment::now(self.0.clock);
        if let Some(value) = self.0.no_older_than(oldest, now) {
            return Ok(value);
        }
        let failed = self.0.failed.load_full();
        let failed_meanwhile =
            failed.as_ref().is_some_and(|failed| !failed_before.is_some_and(|before| Arc::ptr_eq(failed, &before)));
        if failed_meanwhile && self.0.is_failing(now) || self.0.failed_just_now(now) {
            return Err(RefreshError::JustFailed);
        }
        self.0.read().await
    }

    /// Reads the value now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn refresh(&self) -> Result<Arc<T>, RefreshError<E>> {
        let _reading = self.0.reading.lock().await;
        self.0.read().await
    }

    /// Starts a task that reads the value, unless one is at it or a reading failed a moment ago.
    fn read_beside(&self, now: Moment) {
        if self.0.failed_just_now(now) {
            return;
        }
        let Ok(reading) = Arc::clone(&self.0.reading).try_lock_owned() else { return };
        // Another task may have read it meanwhile.
        if self.0.no_older_than(self.0.bounds.fresh, now).is_some() {
            return;
        }
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            if let Err(error) = inner.read().await {
                error.log(inner.on_failure);
            }
            drop(reading);
        });
    }
}

impl<T, E: std::error::Error + 'static> Inner<T, E> {
    async fn read(&self) -> Result<Arc<T>, RefreshError<E>> {
        let began = Moment::now(self.clock);
        let before = self.known.load().as_ref().map(|known| Arc::clone(&known.value));
        let read = tokio::time::timeout(self.bounds.read_timeout, (self.read)(before)).await;
        match read.map_or(Err(RefreshError::TimedOut), |read| read.map_err(RefreshError::Read)) {
            Ok(value) => {
                let value = Arc::new(value);
                self.known.store(Some(Arc::new(Known { value: Arc::clone(&value), began })));
                self.failed.store(None);
                Ok(value)
            }
            Err(error) => {
                self.failed.store(Some(Arc::new(Failed { began, ended: Moment::now(self.clock) })));
                Err(error)
            }
        }
    }

    /// The value, if its reading began no longer ago than this.
    fn no_older_than(&self, oldest: Duration, now: Moment) -> Option<Arc<T>> {
        let known = self.known.load();
        known.as_ref().filter(|known| now.since(known.began) < oldest).map(|known| Arc::clone(&known.value))
    }

    /// Whether the last reading failed and began so lately that it says something about now. One that a freeze
    /// interrupted began before it, and says nothing.
    fn is_failing(&self, now: Moment) -> bool {
        self.failed.load().as_ref().is_some_and(|failed| now.since(failed.began) < self.bounds.failing())
    }

    fn failed_just_now(&self, now: Moment) -> bool {
        let Bounds { retry_after, first_retry_after, .. } = self.bounds;
        let pause = if self.known.load().is_some() { retry_after } else { first_retry_after };
        let failed = self.failed.load();
        failed.as_ref().is_some_and(|failed| now.since(failed.ended) < pause) && self.is_failing(now)
    }
}

#[cfg(test)]
mod tests;
