use std::sync::atomic::{AtomicU64, Ordering};

/// The requests for one sale that this process has seen and not reported yet. A counter of the `metrics` crate takes whole numbers
/// only, and one sample for each request is more than its collector keeps.
#[derive(Debug, Default)]
pub struct Demand(AtomicU64);

impl Demand {
    /// One more.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
