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

pub(crate) use clock::restart;
pub use clock::{Clock, Clock as WallClock, Instant, Moment, pass, set_wall_clock, sleep, sleep_until};

/// A point at which another task may run.
pub fn step() {
    AtomicBool::new(false).load(Ordering::Relaxed);
}

/// A type of another crate, with a step before each call. Each call is one step.
#[derive(Debug, Default, Clone)]
pub struct Stepped<T>(T);

impl<T> Deref for Stepped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        step();
        &self.0
    }
}

pub type ArcSwapOption<T> = Stepped<arc_swap::ArcSwapOption<T>>;
pub type AsyncMutex<T> = Stepped<Arc<tokio::sync::Mutex<T>>>;
pub type Cache<K, V> = Stepped<moka::sync::Cache<K, V>>;
pub type Semaphore = Stepped<tokio::sync::Semaphore>;

impl<T> ArcSwapOption<T> {
    pub fn empty() -> Self {
        Self(arc_swap::ArcSwapOption::empty())
    }
}

impl<T> AsyncMutex<T> {
    /// Takes the lock if it is free, with a guard that owns its mutex. Fails if it is taken.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<tokio::sync::OwnedMutexGuard<T>, tokio::sync::TryLockError> {
        step();
        Arc::clone(&self.0).try_lock_owned()
    }
}

impl Semaphore {
    pub const fn new(permits: usize) -> Self {
        Self(tokio::sync::Semaphore::const_new(permits))
    }

    /// Likewise, where tokio has another function for constants.
    pub const fn const_new(permits: usize) -> Self {
        Self::new(permits)
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
