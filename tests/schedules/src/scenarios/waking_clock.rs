//! Two threads read the rate limiter's clock while the machine's clock is set back.
//! Sources: shared/gate/src/waking_clock.rs

use governor::clock::{Clock, Reference};

use super::waking_clock::WakingClock;
use crate::prelude::*;
use crate::sync::WallClock;

/// The machine's clock is an hour ahead, is read, and is set right. Time goes on from there.
// Under every schedule.
// Mistake: the latest time by either clock is shown.
// - let ran = nanos(now.running_since(self.began));
// + let ran = nanos(now.running_since(now));
pub fn it_does_not_stand_still() {
    const AHEAD_MS: i64 = 3_600_000;
    const PASSES: Duration = Duration::from_secs(1);
    let clock = WakingClock::new(WallClock);
    set_wall_clock(AHEAD_MS);
    let ahead = clock.now();
    set_wall_clock(-AHEAD_MS);
    pass(PASSES);
    let passed: Duration = clock.now().duration_since(ahead).into();
    assert_eq!(passed, PASSES, "it does not stand still");
}

/// No reading is earlier than one before it.
// Under every schedule.
// Mistake: the time of freezes is kept in two steps.
// - let frozen = self.frozen.fetch_max(frozen, Ordering::Relaxed).max(frozen);
// + let frozen = self.frozen.load(Ordering::Relaxed).max(frozen);
// + self.frozen.store(frozen, Ordering::Relaxed);
pub fn it_never_goes_back() {
    let clock = Arc::new(WakingClock::new(WallClock));
    let read = async |clock: &WakingClock, _: usize| {
        clock.now();
    };
    let (_, seen) = at_once_and(&clock, 1, read, async |clock| {
        pass(Duration::from_millis(1));
        // The other thread may read the clock now and store the result late.
        step();
        set_wall_clock(60_000);
        let seen = clock.now();
        set_wall_clock(-60_000);
        assert!(clock.now() >= seen, "it never goes back");
        seen
    });
    assert!(clock.now() >= seen, "it never goes back");
}
