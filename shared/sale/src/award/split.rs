use crate::award::bytes::Seed;
use crate::award::plan::{Plan, in_bounds};
use crate::award::stream::Stream;

/// Equal parts. If `total` is not a multiple of `parts`, the first `total % parts` parts are one larger. Panics if
/// [`Plan::check`] refuses such a split.
pub fn split_equal(total: u64, parts: u32, min: u64) -> Vec<u64> {
    in_bounds(&Plan::Equal { total, parts, min });
    let (each, more) = (total / u64::from(parts), total % u64::from(parts));
    (0..u64::from(parts)).map(|part| each + u64::from(part < more)).collect()
}

/// Parts of different sizes, each at least `min`, whose sum is `total`: the double-mean sequence.
///
/// With `rest` = `total` - `parts` × `min`, the parts are made one by one. While `left` parts (including this one)
/// remain and `left` is more than 1, a part is `min` + x, where x is drawn from 0 to ⌊2 × `rest` / `left`⌋, inclusive,
/// and subtracted from `rest`. The last part is `min` + what is left of `rest`. The numbers come from the [`Stream`] of
/// `seed` with the label `award/1/split`.
///
/// All parts have the same mean, up to rounding, but later ones vary more, so they have to be shuffled. Panics if
/// [`Plan::check`] refuses such a split.
pub fn split_drawn(seed: &Seed, total: u64, parts: u32, min: u64) -> Vec<u64> {
    in_bounds(&Plan::Drawn { total, parts, min });
    let mut stream = Stream::new(seed, "award/1/split");
    let mut rest = total - u64::from(parts) * min;
    let part = |left: u32| {
        // With at least two parts left, twice the mean of what is left is at most all of it.
        let more = if left > 1 { stream.below(2 * rest / u64::from(left) + 1) } else { rest };
        rest -= more;
        min + more
    };
    (1..=parts).rev().map(part).collect()
}
