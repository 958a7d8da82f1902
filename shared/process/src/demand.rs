use super::sync::{AtomicU64, Ordering};

/// Counts this process's requests for one sale since the last report. The `metrics` crate's counters only take whole
/// numbers, and a sample for each request would exceed its collector.
#[derive(Debug, Default)]
pub struct Demand(AtomicU64);

impl Demand {
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
