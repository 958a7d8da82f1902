use std::sync::Arc;

use governor::clock::Clock;
use governor::nanos::Nanos;

use super::sync::{AtomicU64, Moment, Ordering, WallClock};

/// Time since the process started, by whichever clock shows more of it. A clock that stands still while Lambda freezes
/// the process would count the requests of many minutes as if they had come within the milliseconds in which it ran.
#[derive(Debug, Clone)]
pub struct WakingClock {
    clock: WallClock,
    began: Moment,
    /// The largest value shown so far, in nanoseconds: the wall clock may be set back.
    shown: Arc<AtomicU64>,
}

impl WakingClock {
    /// Starts now. `clock` gives the wall clock's time.
    pub fn new(clock: WallClock) -> Self {
        Self { clock, began: Moment::now(clock), shown: Arc::default() }
    }
}

impl Clock for WakingClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let passed = Moment::now(self.clock).since(self.began).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        Nanos::from(self.shown.fetch_max(passed, Ordering::Relaxed).max(passed))
    }
}
