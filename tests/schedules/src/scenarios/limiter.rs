//! Requests of one user, which `governor` counts in this process.
//! Sources: shared/gate/src/bounded.rs

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
// Mistake "no more than a burst": the state of a key is read under one lock and kept under another.
// - let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
// - let (outcome, state) = f(states.get(key).copied())?;
// + let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied();
// + let (outcome, state) = f(known)?;
// + let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
pub fn no_more_than_a_burst_at_once() {
    let quota = Quota::per_second(NonZeroU32::new(BURST).unwrap());
    let clock = FakeRelativeClock::default();
    let limiter: RateLimiter<_, _, _, NoOpMiddleware<Nanos>> = RateLimiter::new(quota, Bounded::default(), clock);
    let went = at_once(&Arc::new(limiter), 3, async |limiter, _| limiter.check_key(&ALICE).is_ok());
    assert_eq!(went.into_iter().map(u32::from).sum::<u32>(), BURST, "no more than a burst at once");
}
