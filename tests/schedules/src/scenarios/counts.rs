//! Callers publish metrics at once.

use super::counts::Counts;
use crate::prelude::*;

/// Three publish at once. The callback is called for each of them, one after the other.
pub fn all_counts_are_called_for_each() {
    let (counts, called) = (Arc::new(Counts::default()), Arc::<AtomicU32>::default());
    let (calling, times) = (OneAtATime::default(), Arc::clone(&called));
    counts.add(move || {
        let calling = calling.begin("a count is called by one at a time");
        step();
        drop(calling);
        times.fetch_add(1, Ordering::Relaxed);
    });
    let callers = [(); 3].map(|()| {
        let counts = Arc::clone(&counts);
        thread::spawn(move || counts.call_all())
    });
    for caller in callers {
        caller.join().unwrap();
    }
    assert_eq!(called.load(Ordering::Relaxed), 3, "all counts are called for each");
}
