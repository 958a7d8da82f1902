//! The clock of the rates is asked by two, while the machine's is set back.

use std::time::Duration;

use governor::clock::Clock;
use shuttle::thread;

use super::waking_clock::WakingClock;
use crate::sync::{WallClock, pass, set_wall_clock, step};

/// What one has seen, the other sees as well from then on.
pub fn it_never_goes_back() {
    let clock = WakingClock::new(WallClock);
    let other = {
        let clock = clock.clone();
        thread::spawn(move || clock.now())
    };
    pass(Duration::from_millis(1));
    // The other one may ask now, and note the answer late.
    step();
    set_wall_clock(60_000);
    let seen = clock.now();
    set_wall_clock(-60_000);
    assert!(clock.now() >= seen, "it never goes back");
    other.join().unwrap();
    assert!(clock.now() >= seen, "it never goes back");
}
