//! A scenario's time, which passes only when the scenario says so. Each thread has its own and runs one scenario at a time.

use std::cell::Cell;
use std::ops::Add;
use std::time::Duration;

use sale::EpochMs;

use super::step;

/// The wall clock when a scenario begins.
const BEGAN_MS: i64 = 1_000_000_000_000;

thread_local! {
    /// Time passed by the monotonic clock, and milliseconds by the wall clock.
    static PASSED: Cell<(Duration, i64)> = const { Cell::new((Duration::ZERO, 0)) };
}

/// Lets this much time pass.
pub fn pass(time: Duration) {
    let (monotonic, wall_ms) = PASSED.get();
    PASSED.set((monotonic + time, wall_ms + i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
}

/// Lets other tasks run.
pub async fn sleep(_: Duration) {
    shuttle::future::yield_now().await;
}

/// Lets other tasks run. Then moves time on to `at`, if that is still to come.
pub async fn sleep_until(at: Instant) {
    shuttle::future::yield_now().await;
    pass(at.saturating_duration_since(Instant::now()));
}

/// Sets the wall clock forward or, with a negative number, back.
pub fn set_wall_clock(by_ms: i64) {
    let (monotonic, wall_ms) = PASSED.get();
    PASSED.set((monotonic, wall_ms + by_ms));
}

/// Sets the time back to the beginning.
pub(crate) fn restart() {
    PASSED.set((Duration::ZERO, 0));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    pub fn now() -> Self {
        step();
        Self(PASSED.get().0)
    }

    pub fn elapsed(self) -> Duration {
        Self::now().saturating_duration_since(self)
    }

    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Clock;

impl Clock {
    /// A scenario has every limit.
    pub fn limit(self, limit: Duration) -> Duration {
        limit
    }

    pub fn now(self) -> EpochMs {
        EpochMs(BEGAN_MS + PASSED.get().1)
    }
}

/// What `moment.rs` imports from its parent.
mod sync {
    pub(crate) use super::Instant;
}

#[path = "../../../../shared/runtime/src/cache/moment.rs"]
mod moment;

pub use moment::Moment;
