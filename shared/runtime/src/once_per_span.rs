use super::sync::{AtomicU64, Ordering};

/// What happens at most once in a span of time. Spans are numbered from 0; some are left out, none comes after a later.
#[derive(Debug, Default)]
pub struct OncePerSpan {
    /// The number after the last span taken.
    next: AtomicU64,
}

impl OncePerSpan {
    pub const fn new() -> Self {
        Self { next: AtomicU64::new(0) }
    }

    /// Takes the span `now`. Returns whether the caller got it.
    pub fn take(&self, now: u64) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
