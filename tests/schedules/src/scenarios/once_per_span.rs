//! Requests end within the same span of time, which one of them takes: to record a value, to publish metrics, or to drop
//! old keys of a full map.
//! Sources: shared/runtime/src/once_per_span.rs

use super::once_per_span::OncePerSpan;
use crate::prelude::*;

/// Each span is taken by one at most.
// Mistake: a span is taken in two steps.
// - now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
// + if now >= next {
// + self.next.store(now + 1, Ordering::Relaxed);
// + }
// + now >= next
pub fn a_span_is_taken_once() {
    const SPANS: [u64; 3] = [5, 5, 6];
    let took = at_once(&Arc::new(OncePerSpan::new()), 3, async |times, number| times.take(SPANS[number]));
    let of = |span| SPANS.iter().zip(&took).filter(|(now, took)| **now == span && **took).count();
    assert!(of(5) <= 1 && of(6) <= 1, "a span is taken once");
    assert!(took.contains(&true), "at least one span is taken");
}
