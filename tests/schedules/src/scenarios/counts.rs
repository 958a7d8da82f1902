//! Callers publish metrics at once.
//! Sources: shared/runtime/src/counts.rs

use super::counts::Counts;
use crate::prelude::*;

/// Three publish at once. The callback is called for each of them, one after the other.
// Mistake "are called for each": the callbacks are taken out while they are called.
// - self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|count| count());
// + let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
// + counts.iter().for_each(|count| count());
// + self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(counts);
pub fn all_counts_are_called_for_each() {
    let (counts, called) = (Arc::new(Counts::default()), Arc::<AtomicU32>::default());
    let (calling, times) = (UnderWay::default(), Arc::clone(&called));
    counts.add(move || {
        let calling = calling.begin_alone("a count is called by one at a time");
        step();
        drop(calling);
        times.fetch_add(1, Relaxed);
    });
    at_once(&counts, 3, async |counts, _| counts.call_all());
    assert_eq!(called.load(Relaxed), 3, "all counts are called for each");
}
