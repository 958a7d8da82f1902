use serde::Serialize;

use crate::Place;
use crate::front::WHOLE_PPB;

/// How far the number of people may be off, in percent: a HyperLogLog of Redis has a standard error of 0.81 %, and this is two and a
/// half times as much. It is more in one of 80 lines.
pub const PEOPLE_ERROR_PERCENT: u64 = 2;

/// From and to, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The least it may be.
    pub from: u64,
    /// The most it may be.
    pub to: u64,
}

/// About how many early people are before this place, of so many: two standard deviations of how places fall, and the error of the
/// count.
pub fn rank_of_early(place: Place, people: u64) -> Range {
    let (ppb, whole) = (u128::from(place.ppb()), u128::from(WHOLE_PPB));
    let before = |people: u64| (ppb * u128::from(people) / whole) as u64;
    let (few, many) =
        (people * (100 - PEOPLE_ERROR_PERCENT) / 100, (people * (100 + PEOPLE_ERROR_PERCENT)).div_ceil(100));
    // n p (1 - p) is the variance of how many of n are before p.
    let spread = |people: u64| 2 * ((ppb * (whole - ppb) / whole * u128::from(people) / whole) as u64).isqrt() + 1;
    Range { from: before(few).saturating_sub(spread(few)), to: (before(many) + spread(many)).min(many) }
}

/// About how many seconds until a rank is admitted, when `admitted` people were and `per_s` are every second. `None` while nobody
/// is.
pub fn wait_s(rank: Range, admitted: Range, per_s: u64) -> Option<Range> {
    let from = rank.from.saturating_sub(admitted.to).checked_div(per_s)?;
    Some(Range { from, to: rank.to.saturating_sub(admitted.from).div_ceil(per_s).max(from) })
}
