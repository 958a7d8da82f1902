use std::time::Duration;

use sale::EpochMs;
use tokio::time::Instant;

use crate::clock::Clock;

/// A moment by two clocks. The monotonic one may stand still while Lambda freezes the process, and the wall clock may be set.
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

    /// The moment at which the clocks show this.
    pub const fn of(monotonic: Instant, wall: EpochMs) -> Self {
        Self { monotonic, wall }
    }

    /// Time since `earlier`, by the clock that shows more of it.
    pub fn since(self, earlier: Self) -> Duration {
        let by_wall = Duration::from_millis(self.wall.since_ms(earlier.wall));
        self.monotonic.saturating_duration_since(earlier.monotonic).max(by_wall)
    }

    /// Time since `earlier`, as [`Moment::since`] has it. None if the wall clock was set back in between, so that neither
    /// clock can be relied on.
    pub fn checked_since(self, earlier: Self) -> Option<Duration> {
        (self.wall >= earlier.wall).then(|| self.since(earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_that_shows_more_counts() {
        let (instant, wall) = (Instant::now(), EpochMs(5_000));
        let earlier = Moment::of(instant, wall);
        let ms = Duration::from_millis;
        for (by_monotonic, by_wall, since) in [(0, 0, 0), (7, 3, 7), (3, 7, 7), (7, -3, 7)] {
            let later = Moment::of(instant + ms(by_monotonic), EpochMs(wall.0 + by_wall));
            assert_eq!(later.since(earlier), ms(since));
            assert_eq!(later.checked_since(earlier), (by_wall >= 0).then_some(ms(since)));
        }
    }
}
