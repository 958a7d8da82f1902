//! Messages wait for their turn to notify a winner.
//! Sources: functions/winners/src/pacer.rs

use super::pacer::Pacer;
use crate::prelude::*;

/// Three messages wait, and one that may be dropped. Their turns take at least two gaps.
// Mistake "a moment of its own": the next moment is read under one lock and kept under another.
// - let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
// + let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
// - *next = Some(at + self.every);
// + *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(at + self.every);
pub fn each_has_a_moment_of_its_own() {
    let (pacer, began) = (Arc::new(Pacer::per_second(10)), Instant::now());
    at_once(&pacer, 4, async |pacer, number| {
        if number == 3 {
            let _ = until_given_up(pacer.turn()).await;
            return;
        }
        pacer.turn().await;
    });
    assert!(began.elapsed() >= Duration::from_millis(200), "each has a moment of its own");
}
