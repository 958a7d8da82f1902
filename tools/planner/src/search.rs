//! A search for the largest number that holds.

/// The largest number from 1 to `limit` for which it holds, given that it holds for all smaller numbers.
pub(crate) fn most(limit: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}
