use std::sync::atomic::{AtomicU64, Ordering};

/// Counts this process's requests for one sale since the last report. A counter of the `metrics` crate takes whole numbers
/// only, and one sample for each request is more than its collector keeps.
#[derive(Debug, Default)]
pub struct Demand(AtomicU64);

impl Demand {
    /// Counts one request.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
