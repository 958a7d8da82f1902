//! No user hears `sold_out` while a unit is free.

use crate::check::holders::Holder;
use crate::check::report::{Found, Rule};
use crate::record::{Refusal, Supply};

/// Between the call and the return of `sold_out` there must be a moment at which every unit may have been taken.
///
/// At each moment it counts the units that may have been taken: each unit with a known number once, however many may
/// have had it, and one for each holder whose unit may be any. If that is less than the units of the round at every
/// moment, a unit was free the whole time. Not checked: rounds whose units are not all on sale from the opening on;
/// answers after Redis may have forgotten something; and rounds with buyers that neither history nor ledger names.
pub(super) fn check(found: &mut Found<'_>, holders: &[Holder]) {
    let view = found.view;
    let holders_are_known = view.orders_are_all() || view.is_recorded();
    if view.round.supply != Supply::AtOnce || !holders_are_known {
        return;
    }
    let mut known: Vec<_> =
        holders.iter().filter_map(|holder| Some((holder.unit?, holder.from, holder.until))).collect();
    known.sort_unstable();
    let mut intervals: Vec<(u64, u64)> = Vec::new();
    for of_unit in known.chunk_by(|one, other| one.0 == other.0) {
        let (_, mut first, mut last) = of_unit[0];
        for &(_, from, until) in &of_unit[1..] {
            if from > last {
                intervals.push((first, last));
                first = from;
            }
            last = last.max(until);
        }
        intervals.push((first, last));
    }
    let unknown = holders.iter().filter(|holder| holder.unit.is_none());
    let intervals = intervals.into_iter().chain(unknown.map(|holder| (holder.from, holder.until)));
    let units = view.round.units;
    let all_taken = Spans::of(intervals, units);
    for (operation, returned) in view.refused(Refusal::SoldOut) {
        found.report.judged.sold_out += 1;
        if !all_taken.overlap(operation.call_ns, returned) {
            let message =
                format!("{operation}, but at no moment between the two can all {units} units have been taken");
            found.violation(Rule::SoldOutWhileFree, message);
        }
    }
}

/// Spans of time, each from its first to its last moment, ascending.
pub(super) struct Spans(Vec<(u64, u64)>);

impl Spans {
    /// When at least so many of these intervals hold at once.
    pub(super) fn of(intervals: impl IntoIterator<Item = (u64, u64)>, least: u32) -> Self {
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for (first, last) in intervals {
            changes.push((first, 1));
            changes.extend(last.checked_add(1).map(|after| (after, -1)));
        }
        changes.sort_unstable();
        let (mut spans, mut count, mut since) = (Vec::new(), 0, None);
        for at_once in changes.chunk_by(|one, other| one.0 == other.0) {
            let at = at_once[0].0;
            count += at_once.iter().map(|change| change.1).sum::<i64>();
            let are_enough = count >= i64::from(least);
            match since {
                None if are_enough => since = Some(at),
                Some(first) if !are_enough => {
                    spans.push((first, at - 1));
                    since = None;
                }
                _ => {}
            }
        }
        spans.extend(since.map(|first| (first, u64::MAX)));
        Self(spans)
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.0.first().map(|span| span.0)
    }

    fn overlap(&self, first: u64, last: u64) -> bool {
        let next = self.0.partition_point(|span| span.1 < first);
        self.0.get(next).is_some_and(|span| span.0 <= last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Spans;

    proptest! {
        #[test]
        fn enough_hold_at_some_moment_of_what_overlaps(
            intervals in prop::collection::vec((0..40_u64, 0..20_u64), 0..12),
            least in 1..5_u32,
            asked in prop::collection::vec((0..70_u64, 0..20_u64), 1..20),
        ) {
            let intervals: Vec<_> = intervals.into_iter().map(|(first, long)| (first, first + long)).collect();
            let spans = Spans::of(intervals.clone(), least);
            for (first, long) in asked {
                let at = |moment| intervals.iter().filter(|(from, to)| (*from..=*to).contains(&moment)).count();
                let are_enough = (first..=first + long).any(|moment| at(moment) >= least as usize);
                prop_assert_eq!(spans.overlap(first, first + long), are_enough);
            }
        }
    }

    #[test]
    fn what_has_no_end_stays() {
        let spans = Spans::of([(5, u64::MAX), (7, 8)], 1);
        let overlap = [(0, 4), (0, 5), (9, u64::MAX)].map(|(first, last)| spans.overlap(first, last));
        assert_eq!(overlap, [false, true, true]);
        assert!(!Spans::of([], 1).overlap(0, u64::MAX));
    }
}
