//! Requests of one user, which `governor` counts in this process.

use std::num::NonZeroU32;

use governor::clock::FakeRelativeClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::{Quota, RateLimiter};

use super::bounded::Bounded;
use crate::prelude::*;

const BURST: u32 = 2;
/// The hash of the user.
const ALICE: u64 = 1;

/// Three come at once, and two are allowed.
pub fn no_more_than_a_burst_at_once() {
    let quota = Quota::per_second(NonZeroU32::new(BURST).unwrap());
    let clock = FakeRelativeClock::default();
    let limiter: RateLimiter<_, _, _, NoOpMiddleware<Nanos>> = RateLimiter::new(quota, Bounded::default(), clock);
    let limiter = Arc::new(limiter);
    let requests = [(); BURST as usize + 1].map(|()| {
        let limiter = Arc::clone(&limiter);
        thread::spawn(move || limiter.check_key(&ALICE).is_ok())
    });
    let went = requests.map(|request| u32::from(request.join().unwrap()));
    assert_eq!(went.iter().sum::<u32>(), BURST, "no more than a burst at once");
}
