use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::nanos::Nanos;

use super::sync::{AtomicU64, Moment, Ordering, WallClock};

/// Time since the process started, by the monotonic clock and the freezes that the wall clock shows besides. A clock that
/// stands still while Lambda freezes the process would count the requests of many minutes as if they had come within the
/// milliseconds in which it ran.
#[derive(Debug, Clone)]
pub struct WakingClock {
    clock: WallClock,
    began: Moment,
    /// The most by which the wall clock was ahead of the monotonic one, in nanoseconds: it may be set back.
    frozen: Arc<AtomicU64>,
}

impl WakingClock {
    /// Starts now. `clock` gives the wall clock's time.
    pub fn new(clock: WallClock) -> Self {
        Self { clock, began: Moment::now(clock), frozen: Arc::default() }
    }
}

impl Clock for WakingClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let now = Moment::now(self.clock);
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let ran = nanos(now.running_since(self.began));
        let frozen = nanos(now.since(self.began)) - ran;
        let frozen = self.frozen.fetch_max(frozen, Ordering::Relaxed).max(frozen);
        Nanos::from(ran.saturating_add(frozen))
    }
}
