//! Two threads read the rate limiter's clock while the machine's clock is set back.

use std::time::Duration;

use governor::clock::Clock;
use shuttle::thread;

use super::waking_clock::WakingClock;
use crate::sync::{WallClock, pass, set_wall_clock, step};

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
