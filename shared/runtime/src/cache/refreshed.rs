use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::sync::{ArcSwapOption, AsyncMutex, spawn, timeout};
use super::{Clock, Moment};

/// How old a value may be, and how often it is read. With [`Bounds::checked`] the compiler checks their consistency.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The age up to which a value is served without reading it again.
    pub fresh: Duration,
    /// The age up to which a value is served while one task reads it again. Beyond it callers wait for the read.
    pub usable: Duration,
    /// How long the last value is served if it cannot be read.
    pub held: Duration,
    pub read_timeout: Duration,
    /// How long a caller waits for a read if there is a value that can be served instead. The read continues.
    pub wait: Duration,
    /// The pause after a failed read, so that callers do not add to an overload.
    pub retry_after: Duration,
    /// The same while there is no value yet: callers get the error during the pause.
    pub first_retry_after: Duration,
}

impl Bounds {
    /// Checks that the bounds are consistent; in a constant, the compiler does. Panics if they are not.
    #[must_use]
    pub const fn checked(self) -> Self {
        assert!(self.fresh.as_nanos() <= self.usable.as_nanos() && self.usable.as_nanos() <= self.held.as_nanos());
        assert!(self.failing().as_nanos() < self.held.as_nanos());
        assert!(self.first_retry_after.as_nanos() <= self.retry_after.as_nanos());
        self
    }

    /// How long after the start of a failed read callers get the last value at once instead of waiting for the next
    /// read. It covers that read, the pause and the next read, so that nobody waits during an outage while calls keep
    /// coming.
    const fn failing(&self) -> Duration {
        self.read_timeout.saturating_mul(2).saturating_add(self.retry_after).saturating_add(Duration::from_secs(1))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RefreshError<E> {
    #[error(transparent)]
    Read(E),
    #[error("out of time")]
    TimedOut,
    /// A read failed a moment ago. The caller that waited for it got its error.
    #[error("it could not be read a moment ago")]
    JustFailed,
}

impl<E: std::error::Error + 'static> RefreshError<E> {
    /// Logs a failed read under `message`: one line for each read, since [`Self::JustFailed`] logs nothing.
    pub fn log(&self, message: &'static str) {
        if !matches!(self, Self::JustFailed) {
            tracing::error!(error = self as &dyn std::error::Error, "{message}");
        }
    }
}

/// One read of a value.
pub type Reading<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Starts a read, given the last value.
type Read<T, E> = dyn Fn(Option<Arc<T>>) -> Reading<T, E> + Send + Sync;

/// A value that is refreshed as it is used: served from memory while one task reads it again, and kept for a while if
/// it cannot be read. Clones share the value.
pub struct Refreshed<T, E>(Arc<Inner<T, E>>);

struct Inner<T, E> {
    /// Logged when the value cannot be read and the last one is served.
    on_failure: &'static str,
    bounds: Bounds,
    clock: Clock,
    read: Box<Read<T, E>>,
    cached: ArcSwapOption<Cached<T>>,
    failed: ArcSwapOption<Failed>,
    /// Held during a read, so that one read serves all.
    reading: Arc<AsyncMutex<()>>,
}

struct Cached<T> {
    value: Arc<T>,
    /// When its read began; later writes may be missing.
    began: Moment,
}

/// The last read, if it failed.
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
    /// A value that has not been read yet. `on_failure` is logged when it cannot be read and the last one is served.
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
            cached: ArcSwapOption::empty(),
            failed: ArcSwapOption::empty(),
            reading: Arc::default(),
        }))
    }

    /// The last value, however old.
    pub fn last(&self) -> Option<Arc<T>> {
        self.0.cached.load().as_ref().map(|cached| Arc::clone(&cached.value))
    }

    /// The value, if it can be served without waiting. Starts a task that reads it again if it is not fresh.
    pub fn at_hand(&self, now: Moment) -> Option<Arc<T>> {
        let cached = self.0.cached.load();
        let cached = cached.as_ref()?;
        let (age, bounds) = (now.since(cached.began), &self.0.bounds);
        if age >= bounds.fresh {
            if age >= bounds.usable && !(age < bounds.held && self.0.is_failing(now)) {
                return None;
            }
            self.read_beside(now);
        }
        Some(Arc::clone(&cached.value))
    }

    /// The value, at most `usable` old, or the last one while it is `held`. Fails if neither can be had.
    pub async fn get(&self) -> Result<Arc<T>, RefreshError<E>> {
        let now = Moment::now(self.0.clock);
        if let Some(value) = self.at_hand(now) {
            return Ok(value);
        }
        let usable = self.0.bounds.usable;
        let Some(held) = self.0.no_older_than(self.0.bounds.held, now) else { return self.no_older_than(usable).await };
        let again = self.clone();
        // A task, so that a caller that gives up does not end it.
        let reading = spawn(async move {
            if let Err(error) = again.no_older_than(usable).await {
                error.log(again.0.on_failure);
            }
        });
        let _ = timeout(self.0.clock.limit(self.0.bounds.wait), reading).await;
        Ok(self.last().unwrap_or(held))
    }

    /// The value, read again if its last read began longer ago than `oldest`. Fails if that fails, or did a moment ago.
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

    /// The value, read again unless it `holds`, once for all who wait. Fails if that fails, or did a moment ago.
    pub async fn until(&self, holds: impl Fn(&T) -> bool) -> Result<Arc<T>, RefreshError<E>> {
        let _reading = self.0.reading.lock().await;
        if let Some(value) = self.last().filter(|value| holds(value)) {
            return Ok(value);
        }
        if self.0.failed_just_now(Moment::now(self.0.clock)) {
            return Err(RefreshError::JustFailed);
        }
        self.0.read().await
    }

    pub async fn refresh(&self) -> Result<Arc<T>, RefreshError<E>> {
        let _reading = self.0.reading.lock().await;
        self.0.read().await
    }

    /// Starts a task that reads the value, unless a read is under way or failed a moment ago.
    fn read_beside(&self, now: Moment) {
        let Ok(reading) = Arc::clone(&self.0.reading).try_lock_owned() else { return };
        // Another task may have read it meanwhile, or tried to.
        if self.0.no_older_than(self.0.bounds.fresh, now).is_some() || self.0.failed_just_now(now) {
            return;
        }
        let inner = Arc::clone(&self.0);
        spawn(async move {
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
        let before = self.cached.load().as_ref().map(|cached| Arc::clone(&cached.value));
        let read = timeout(self.clock.limit(self.bounds.read_timeout), (self.read)(before)).await;
        match read.map_or(Err(RefreshError::TimedOut), |read| read.map_err(RefreshError::Read)) {
            Ok(value) => {
                let value = Arc::new(value);
                self.cached.store(Some(Arc::new(Cached { value: Arc::clone(&value), began })));
                self.failed.store(None);
                Ok(value)
            }
            Err(error) => {
                self.failed.store(Some(Arc::new(Failed { began, ended: Moment::now(self.clock) })));
                Err(error)
            }
        }
    }

    /// The value, if its read began at most `oldest` ago.
    fn no_older_than(&self, oldest: Duration, now: Moment) -> Option<Arc<T>> {
        let cached = self.cached.load();
        cached.as_ref().filter(|cached| now.since(cached.began) < oldest).map(|cached| Arc::clone(&cached.value))
    }

    /// Whether the last read failed recently enough to matter: not one from before a freeze that interrupted it.
    fn is_failing(&self, now: Moment) -> bool {
        self.failed.load().as_ref().is_some_and(|failed| now.since(failed.began) < self.bounds.failing())
    }

    fn failed_just_now(&self, now: Moment) -> bool {
        let Bounds { retry_after, first_retry_after, .. } = self.bounds;
        let pause = if self.cached.load().is_some() { retry_after } else { first_retry_after };
        let failed = self.failed.load();
        failed.as_ref().is_some_and(|failed| now.since(failed.ended) < pause) && self.is_failing(now)
    }
}

#[cfg(test)]
mod tests;
