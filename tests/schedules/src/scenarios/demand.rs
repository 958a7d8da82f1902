//! Requests for a sale are counted while the count is reported.
//! Sources: shared/process/src/demand.rs

use super::demand::Demand;
use crate::prelude::*;

/// Two requests come while the count is reported.
// Under every schedule.
// Mistake "reported once": the count is taken in two steps.
// - self.0.swap(0, Ordering::Relaxed)
// + let counted = self.0.load(Ordering::Relaxed);
// + self.0.store(0, Ordering::Relaxed);
// + counted
pub fn each_request_is_reported_once() {
    let demand = Arc::new(Demand::default());
    let (_, reported) = at_once_and(&demand, 2, async |demand, _| demand.count(), async |demand| demand.take());
    assert_eq!(reported + demand.take(), 2, "a request is reported once");
}
