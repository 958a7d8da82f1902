use std::sync::TryLockError;
use std::time::Duration;

use super::sync::{Instant, Mutex};

/// Runs something at most once per period, one caller at a time.
#[derive(Debug)]
pub(crate) struct Throttle {
    every: Duration,
    last: Mutex<Option<Instant>>,
}

impl Throttle {
    pub(crate) fn every(every: Duration) -> Self {
        Self { every, last: Mutex::new(None) }
    }

    /// Runs `work` if it is due. Returns at once if another caller is running it. A panic does not stop later runs.
    pub(crate) fn try_do(&self, work: impl FnOnce()) {
        let mut last = match self.last.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if last.is_none_or(|at| at.elapsed() >= self.every) {
            *last = Some(Instant::now());
            work();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_ends_nothing_but_the_work_that_panicked() {
        let throttle = Throttle::every(Duration::ZERO);
        let panicked = catch_unwind(AssertUnwindSafe(|| throttle.try_do(|| panic!("while it is done"))));
        assert!(panicked.is_err());
        let mut is_done = false;
        throttle.try_do(|| is_done = true);
        assert!(is_done, "it is done again");
    }
}
