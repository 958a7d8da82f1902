use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// How much later the winner of a race starts the next time.
const STEP_US: i64 = 500;

/// Keeps two racers close to each other on any machine: whoever wins starts a little later the next time.
#[derive(Debug, Default)]
pub(crate) struct Handicap(AtomicI64);

impl Handicap {
    /// How long the first and the second wait before they start.
    pub(crate) fn waits(&self) -> (Duration, Duration) {
        let first_us = self.0.load(Ordering::Relaxed);
        let wait = |us: i64| Duration::from_micros(us.max(0).unsigned_abs());
        (wait(first_us), wait(-first_us))
    }

    pub(crate) fn note(&self, first_won: bool) {
        self.0.fetch_add(if first_won { STEP_US } else { -STEP_US }, Ordering::Relaxed);
    }
}
