use std::time::Duration;

use super::sync::{AtomicU64, Ordering};

/// How often a full map is searched for keys to drop. The search takes as long as some hundred requests, and in a rush the
/// map is full all the time.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_millis(100);

/// When a full map was last searched for keys to drop, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Sweeps(AtomicU64);

impl Sweeps {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether it is time to drop old keys. One request of many is told so.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        let swept_at_ns = self.0.load(Ordering::Relaxed);
        // A request may have read the clock before another one that has swept since.
        now_ns.saturating_sub(swept_at_ns) >= SWEEP_EVERY.as_nanos() as u64
            && self.0.compare_exchange(swept_at_ns, now_ns, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
