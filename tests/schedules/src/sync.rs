//! The types that requests share, with a point before each step on one of them at which [shuttle] may let another task go on.
//! Time passes only when a scenario says so.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

pub use shuttle::future::spawn;
pub use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub use shuttle::sync::{Mutex, MutexGuard};
pub use std::sync::PoisonError;

use shuttle::rand::Rng;

mod cached;
mod clock;

pub use cached::Cache;
pub(crate) use clock::restart;
pub use clock::{Clock, Clock as WallClock, Instant, Moment, pass, set_wall_clock};

/// A point at which another task may go on.
pub fn step() {
    AtomicBool::new(false).load(Ordering::Relaxed);
}

/// `tokio::sync::Mutex`, with a step before each attempt to lock it.
#[derive(Debug, Default)]
pub struct AsyncMutex<T>(Arc<tokio::sync::Mutex<T>>);

impl<T> AsyncMutex<T> {
    /// Waits for it.
    pub async fn lock(&self) -> tokio::sync::MutexGuard<'_, T> {
        step();
        self.0.lock().await
    }

    /// Locks it if nobody has.
    ///
    /// # Errors
    /// If somebody has.
    pub fn try_lock(&self) -> Result<tokio::sync::MutexGuard<'_, T>, tokio::sync::TryLockError> {
        step();
        self.0.try_lock()
    }

    /// Likewise, for a guard that can be given away.
    ///
    /// # Errors
    /// If somebody has.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<tokio::sync::OwnedMutexGuard<T>, tokio::sync::TryLockError> {
        step();
        Arc::clone(&self.0).try_lock_owned()
    }
}

/// `tokio::sync::Semaphore`, likewise.
#[derive(Debug)]
pub struct Semaphore(tokio::sync::Semaphore);

impl Semaphore {
    /// With so many permits.
    pub const fn new(permits: usize) -> Self {
        Self(tokio::sync::Semaphore::const_new(permits))
    }

    /// Takes a permit, if there is one.
    ///
    /// # Errors
    /// If there is none.
    pub fn try_acquire(&self) -> Result<tokio::sync::SemaphorePermit<'_>, tokio::sync::TryAcquireError> {
        step();
        self.0.try_acquire()
    }
}

/// What `arc_swap::ArcSwapOption` is to its users: each call is one step.
#[derive(Debug)]
pub struct ArcSwapOption<T>(std::sync::Mutex<Option<Arc<T>>>);

impl<T> Default for ArcSwapOption<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> ArcSwapOption<T> {
    /// Nothing yet.
    pub const fn empty() -> Self {
        Self(std::sync::Mutex::new(None))
    }

    /// What it holds.
    pub fn load(&self) -> Option<Arc<T>> {
        self.load_full()
    }

    /// What it holds.
    pub fn load_full(&self) -> Option<Arc<T>> {
        step();
        self.held().clone()
    }

    /// Replaces what it holds.
    pub fn store(&self, value: Option<Arc<T>>) {
        step();
        *self.held() = value;
    }

    /// Replaces what it holds if that is `current`. Gives what it held.
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

/// Lets others go on.
pub async fn sleep(_: Duration) {
    shuttle::future::yield_now().await;
}

/// Lets others go on. Then it is that moment, or a later one.
pub async fn sleep_until(at: Instant) {
    shuttle::future::yield_now().await;
    pass(at.saturating_duration_since(Instant::now()));
}

/// A future that took too long.
#[derive(Debug, thiserror::Error)]
#[error("it took too long")]
pub struct Elapsed;

/// Waits for a future, or for as long as the schedule says: then the future is dropped where it is.
///
/// # Errors
/// If it took too long.
pub async fn timeout<F: Future>(_: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut polls = shuttle::rand::thread_rng().gen_range(0..12_u32);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(value));
        }
        match polls {
            0 => return Poll::Ready(Err(Elapsed)),
            // It may take as long as it wants.
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

/// What a request comes to, or None if it is given up at some point on its way.
pub async fn until_given_up<F: Future>(request: F) -> Option<F::Output> {
    timeout(Duration::ZERO, request).await.ok()
}
