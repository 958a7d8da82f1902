use super::sync::{AtomicU64, Ordering};

/// Which spans of time have a sample. They are numbered from 0, and each gets at most one. Some are skipped, and none
/// gets one after a later one.
#[derive(Debug)]
pub(crate) struct SampleTimes {
    /// The number after the last span taken.
    next: AtomicU64,
}

impl SampleTimes {
    pub(crate) const fn new() -> Self {
        Self { next: AtomicU64::new(0) }
    }

    /// Takes the span `now`. Returns whether the caller got it.
    pub(crate) fn take(&self, now: u64) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
