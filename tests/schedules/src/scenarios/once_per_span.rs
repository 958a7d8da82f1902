//! Requests end within the same span of time, which one of them takes: to record a value, to publish metrics, or to drop
//! old keys of a full map.

use super::once_per_span::OncePerSpan;
use crate::prelude::*;

/// Each span is taken by one at most.
pub fn a_span_is_taken_once() {
    let times = Arc::new(OncePerSpan::new());
    let requests = [5, 5, 6].map(|now| {
        let times = Arc::clone(&times);
        thread::spawn(move || (now, times.take(now)))
    });
    let taken: Vec<u64> = requests
        .into_iter()
        .map(|request| request.join().unwrap())
        .filter(|(_, took)| *took)
        .map(|(now, _)| now)
        .collect();
    let of = |span| taken.iter().filter(|now| **now == span).count();
    assert!(of(5) <= 1 && of(6) <= 1, "a span is taken once");
    assert!(!taken.is_empty(), "at least one span is taken");
}
