use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use runtime::Clock;
use sale::EpochMs;
use tokio::sync::Mutex;

use crate::FulfilmentError;

/// How long a value is served without another thought.
const FRESH: Duration = Duration::from_secs(2);
/// How long a value is served while one task reads it again. Beyond it a request waits for a reading, so this is how old a
/// stop can be before every process acts on it.
const USABLE: Duration = Duration::from_secs(5);
/// How long the last value holds if it cannot be read again. A stop that nobody can read is no stop, so this ends.
const HELD_FOR: Duration = Duration::from_secs(5 * 60);
/// Pause after a reading that failed, so that requests do not add to the load of a table that is already throttled.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Longest reading. With a call of Redis and one of SQS after it, it fits what a request may take.
const READ_TIMEOUT: Duration = Duration::from_millis(2500);
/// How long after the start of a failed reading requests get the last value at once instead of waiting for the next one.
/// It covers that reading, the pause and the next reading, so that an outage makes nobody wait while requests keep coming.
const FAILING_FOR: Duration = Duration::from_millis(7000);
const _: () = assert!(
    FAILING_FOR.as_millis() > 2 * READ_TIMEOUT.as_millis() + TRY_AGAIN_AFTER.as_millis()
        && FAILING_FOR.as_millis() < HELD_FOR.as_millis()
);

type Reading<T> = Pin<Box<dyn Future<Output = Result<T, FulfilmentError>> + Send>>;

/// A value that is read every few seconds at most, however many ask for it. If it cannot be read, its last value holds for
/// a while. Clones share the value.
pub(crate) struct Refreshed<T>(Arc<Inner<T>>);

struct Inner<T> {
    what: &'static str,
    clock: Clock,
    /// Reads the value; gets the one before it.
    read: Box<dyn Fn(Option<Arc<T>>) -> Reading<T> + Send + Sync>,
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

/// A moment by two clocks. The monotonic one may stand still while Lambda freezes the process, the other one may be set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    monotonic: Instant,
    wall: EpochMs,
}

impl Moment {
    pub(crate) fn now(clock: Clock) -> Self {
        Self { monotonic: Instant::now(), wall: clock.now() }
    }

    /// Time since `earlier`, by the clock that shows more of it.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        let wall = Duration::from_millis(self.wall.since_ms(earlier.wall));
        self.monotonic.saturating_duration_since(earlier.monotonic).max(wall)
    }
}

impl<T> Clone for Refreshed<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send + Sync + 'static> Refreshed<T> {
    /// Nothing read yet. `what` names the value in the log.
    pub(crate) fn new(
        what: &'static str,
        clock: Clock,
        read: impl Fn(Option<Arc<T>>) -> Reading<T> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            what,
            clock,
            read: Box::new(read),
            known: ArcSwapOption::empty(),
            failed: ArcSwapOption::empty(),
            reading: Arc::default(),
        }))
    }

    /// The last value, however old.
    pub(crate) fn last(&self) -> Option<Arc<T>> {
        self.0.known.load().as_ref().map(|known| Arc::clone(&known.value))
    }

    /// The value, if nobody has to wait for it. Has it read again if it is not fresh.
    pub(crate) fn at_hand(&self, now: Moment) -> Option<Arc<T>> {
        let known = self.0.known.load();
        let known = known.as_ref()?;
        let age = now.since(known.began);
        if age >= FRESH {
            if age >= USABLE && !(age < HELD_FOR && self.0.is_failing(now)) {
                return None;
            }
            self.read_beside(now);
        }
        Some(Arc::clone(&known.value))
    }

    /// The value: at most [`USABLE`] old, unless it could not be read a moment ago.
    ///
    /// # Errors
    /// If it cannot be read, and nothing is known from the last [`HELD_FOR`].
    pub(crate) async fn get(&self) -> Result<Arc<T>, FulfilmentError> {
        if let Some(value) = self.at_hand(Moment::now(self.0.clock)) {
            return Ok(value);
        }
        self.no_older_than(USABLE).await.or_else(|error| {
            let now = Moment::now(self.0.clock);
            match self.0.known.load_full().filter(|known| now.since(known.began) < HELD_FOR) {
                Some(known) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the last {} hold", self.0.what);
                    Ok(Arc::clone(&known.value))
                }
                None => Err(error),
            }
        })
    }

    /// The value, read again if its reading began longer ago than this.
    ///
    /// # Errors
    /// If it cannot be read, or could not a moment ago.
    pub(crate) async fn no_older_than(&self, oldest: Duration) -> Result<Arc<T>, FulfilmentError> {
        let _reading = self.0.reading.lock().await;
        let now = Moment::now(self.0.clock);
        match self.0.known.load_full() {
            Some(known) if now.since(known.began) < oldest => Ok(Arc::clone(&known.value)),
            _ if self.0.failed_just_now(now) => Err(FulfilmentError::NothingKnown),
            _ => self.0.read().await,
        }
    }

    /// Reads it now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) async fn refresh(&self) -> Result<Arc<T>, FulfilmentError> {
        let _reading = self.0.reading.lock().await;
        self.0.read().await
    }

    /// Has one task read it, unless one does or a reading failed a moment ago.
    fn read_beside(&self, now: Moment) {
        if self.0.failed_just_now(now) {
            return;
        }
        let Ok(reading) = Arc::clone(&self.0.reading).try_lock_owned() else { return };
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            if let Err(error) = inner.read().await {
                tracing::error!(error = &error as &dyn std::error::Error, "the last {} hold", inner.what);
            }
            drop(reading);
        });
    }
}

impl<T> Inner<T> {
    async fn read(&self) -> Result<Arc<T>, FulfilmentError> {
        let began = Moment::now(self.clock);
        let before = self.known.load().as_ref().map(|known| Arc::clone(&known.value));
        let read = tokio::time::timeout(READ_TIMEOUT, (self.read)(before)).await;
        match read.unwrap_or(Err(FulfilmentError::OutOfTime)) {
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

    /// Whether the last reading failed and began so lately that it says something about now. One that a freeze
    /// interrupted began before it, and says nothing.
    fn is_failing(&self, now: Moment) -> bool {
        self.failed.load().as_ref().is_some_and(|failed| now.since(failed.began) < FAILING_FOR)
    }

    fn failed_just_now(&self, now: Moment) -> bool {
        let failed = self.failed.load();
        failed.as_ref().is_some_and(|failed| now.since(failed.ended) < TRY_AGAIN_AFTER) && self.is_failing(now)
    }
}
