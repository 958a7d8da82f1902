use std::time::Duration;

use sale::EpochMs;

use super::Clock;
use super::sync::Instant;

/// A time by two clocks. The monotonic one may stand still while Lambda freezes the process, the wall clock may be set.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    monotonic: Instant,
    wall: EpochMs,
}

impl Moment {
    /// Now, with the wall clock's time from `clock`.
    pub fn now(clock: Clock) -> Self {
        Self::of(Instant::now(), clock.now())
    }

    /// A moment with these readings of the clocks.
    pub const fn of(monotonic: Instant, wall: EpochMs) -> Self {
        Self { monotonic, wall }
    }

    /// Time since `earlier`, by the clock that shows more.
    pub fn since(self, earlier: Self) -> Duration {
        let by_wall = Duration::from_millis(self.wall.since_ms(earlier.wall));
        self.running_since(earlier).max(by_wall)
    }

    /// Time since `earlier` by the monotonic clock, which may leave out freezes.
    pub fn running_since(self, earlier: Self) -> Duration {
        self.monotonic.saturating_duration_since(earlier.monotonic)
    }

    /// Time since `earlier`, like [`Moment::since`]. `None` if the wall clock was set back: neither clock is reliable.
    pub fn checked_since(self, earlier: Self) -> Option<Duration> {
        (self.wall >= earlier.wall).then(|| self.since(earlier))
    }
}
