//! The types that requests share, where [shuttle] may switch tasks before each step. Time passes when a scenario says.

use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// As it is: it never blocks a thread, and whoever waits for another's read is woken by it.
pub use moka::future::Cache as FutureCache;
pub use shuttle::future::spawn;
pub use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub use shuttle::sync::{Mutex, MutexGuard};
pub use std::sync::PoisonError;
pub use tokio::sync::oneshot;

use shuttle::rand::Rng;

mod cached;
mod clock;

pub use cached::Cache;
pub(crate) use clock::restart;
pub use clock::{Clock, Clock as WallClock, Instant, Moment, pass, set_wall_clock, sleep, sleep_until};

/// A point at which another task may run.
pub fn step() {
    AtomicBool::new(false).load(Ordering::Relaxed);
}

/// `tokio::sync::Mutex`, with a step before each attempt to lock it.
#[derive(Debug, Default)]
pub struct AsyncMutex<T>(Arc<tokio::sync::Mutex<T>>);

impl<T> Deref for AsyncMutex<T> {
    type Target = tokio::sync::Mutex<T>;

    fn deref(&self) -> &Self::Target {
        step();
        &self.0
    }
}

impl<T> AsyncMutex<T> {
    /// Takes the lock if it is free, with a guard that owns its mutex. Fails if it is taken.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<tokio::sync::OwnedMutexGuard<T>, tokio::sync::TryLockError> {
        step();
        Arc::clone(&self.0).try_lock_owned()
    }
}

/// `tokio::sync::Semaphore`, likewise.
#[derive(Debug)]
pub struct Semaphore(tokio::sync::Semaphore);

impl Semaphore {
    pub const fn new(permits: usize) -> Self {
        Self(tokio::sync::Semaphore::const_new(permits))
    }

    /// Likewise, where tokio has another function for constants.
    pub const fn const_new(permits: usize) -> Self {
        Self::new(permits)
    }
}

impl Deref for Semaphore {
    type Target = tokio::sync::Semaphore;

    fn deref(&self) -> &Self::Target {
        step();
        &self.0
    }
}

/// Behaves like `arc_swap::ArcSwapOption`; each call is one step.
#[derive(Debug)]
pub struct ArcSwapOption<T>(std::sync::Mutex<Option<Arc<T>>>);

impl<T> Default for ArcSwapOption<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> ArcSwapOption<T> {
    pub const fn empty() -> Self {
        Self(std::sync::Mutex::new(None))
    }

    pub fn load(&self) -> Option<Arc<T>> {
        self.load_full()
    }

    pub fn load_full(&self) -> Option<Arc<T>> {
        step();
        self.held().clone()
    }

    pub fn store(&self, value: Option<Arc<T>>) {
        step();
        *self.held() = value;
    }

    /// Replaces the value if it is `current`. Returns the previous value.
    pub fn compare_and_swap(&self, current: &Option<Arc<T>>, new: Option<Arc<T>>) -> Option<Arc<T>> {
        step();
        let mut held = self.held();
        if held.as_ref().map(Arc::as_ptr) == current.as_ref().map(Arc::as_ptr) {
            return std::mem::replace(&mut held, new);
        }
        held.clone()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future that took too long.
#[derive(Debug, thiserror::Error)]
#[error("it took too long")]
pub struct Elapsed;

/// Waits for a future, or for as long as the schedule says and then drops the future. Fails if it took too long.
pub async fn timeout<F: Future>(_: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut polls = shuttle::rand::thread_rng().gen_range(0..12_u32);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(value));
        }
        match polls {
            0 => return Poll::Ready(Err(Elapsed)),
            // No timeout in half of the cases.
            6.. => {}
            _ => {
                polls -= 1;
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await
}

/// The result of a request, or None if it is dropped before it ends.
pub async fn until_given_up<F: Future>(request: F) -> Option<F::Output> {
    timeout(Duration::ZERO, request).await.ok()
}
