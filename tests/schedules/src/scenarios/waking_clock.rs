//! Two threads read the rate limiter's clock while the machine's clock is set back.

use governor::clock::{Clock, Reference};

use super::waking_clock::WakingClock;
use crate::prelude::*;
use crate::sync::WallClock;

/// The machine's clock is an hour ahead, is read, and is set right. Time goes on from there.
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
pub fn it_never_goes_back() {
    let clock = WakingClock::new(WallClock);
    let other = {
        let clock = clock.clone();
        thread::spawn(move || clock.now())
    };
    pass(Duration::from_millis(1));
    // The other thread may read the clock now and store the result late.
    step();
    set_wall_clock(60_000);
    let seen = clock.now();
    set_wall_clock(-60_000);
    assert!(clock.now() >= seen, "it never goes back");
    other.join().unwrap();
    assert!(clock.now() >= seen, "it never goes back");
}
