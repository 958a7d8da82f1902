//! Requests end within the same span of time.

use super::sample_times::SampleTimes;
use crate::prelude::*;

/// One value is reported for each span.
pub fn a_span_is_taken_once() {
    let times = Arc::new(SampleTimes::new());
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
