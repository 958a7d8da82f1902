use serde::Serialize;

use crate::line::Place;
use crate::line::order::WHOLE_PPB;

/// The error of the number of people, in percent: two and a half times the standard error of Redis's HyperLogLog, 0.81
/// %. One line in 80 exceeds it.
pub const PEOPLE_ERROR_PERCENT: u64 = 2;

/// An inclusive range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Range {
    pub from: u64,
    pub to: u64,
}

/// Roughly how many of `people` early users are before this place: two standard deviations, and the error of the count.
pub fn rank_of_early(place: Place, people: u64) -> Range {
    let (ppb, whole) = (u128::from(place.ppb()), u128::from(WHOLE_PPB));
    let before = |people: u64| (ppb * u128::from(people) / whole) as u64;
    let (few, many) =
        (people * (100 - PEOPLE_ERROR_PERCENT) / 100, (people * (100 + PEOPLE_ERROR_PERCENT)).div_ceil(100));
    // n p (1 - p) is the variance of the number of places before p.
    let spread = |people: u64| 2 * ((ppb * (whole - ppb) / whole * u128::from(people) / whole) as u64).isqrt() + 1;
    Range { from: before(few).saturating_sub(spread(few)), to: (before(many) + spread(many)).min(many) }
}

/// Roughly how many seconds until a rank is admitted, after `admitted` people, `per_s` a second.
pub fn wait_s(rank: Range, admitted: Range, per_s: u64) -> Option<Range> {
    let from = rank.from.saturating_sub(admitted.to).checked_div(per_s)?;
    Some(Range { from, to: rank.to.saturating_sub(admitted.from).div_ceil(per_s).max(from) })
}
