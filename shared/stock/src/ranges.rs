use std::ops::RangeInclusive;

/// A range of units as Redis has it: `FIRST-LAST`.
pub(crate) fn parse_range(range: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = range.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}

pub(crate) fn range_text(range: &RangeInclusive<u32>) -> String {
    format!("{}-{}", range.start(), range.end())
}
