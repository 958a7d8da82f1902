//! No user hears `sold_out` while a unit is free.

use crate::check::found::Found;
use crate::check::holders::Holders;
use crate::check::report::Rule;
use crate::check::timeline::Timeline;
use crate::record::{Answer, Refusal, Supply};

/// Between the call and the return of `sold_out` there must be a moment at which every unit may have been kept from
/// others.
///
/// At each moment it counts the units that may have been taken: each unit with a known number once, however many may
/// have had it, and one for each holder whose unit may be any. If that is less than the units of the round at every
/// moment, a unit was free the whole time. Not checked: rounds whose units are not all on sale from the opening on;
/// answers after Redis may have forgotten something; and rounds with buyers that neither history nor ledger names.
pub(super) fn check(found: &mut Found<'_>, holders: &Holders) {
    let view = found.view;
    let holders_are_known = view.orders_are_all() || view.is_recorded();
    if view.round.supply != Supply::AtOnce || !holders_are_known {
        return;
    }
    let mut known: Vec<_> =
        holders.all.iter().filter_map(|holder| Some((holder.unit?, holder.from, holder.until))).collect();
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
    let unknown = holders.all.iter().filter(|holder| holder.unit.is_none());
    let taken = Timeline::of(intervals.into_iter().chain(unknown.map(|holder| (holder.from, holder.until))));
    for operation in &view.operations {
        let (Answer::Refused(Refusal::SoldOut), Some(returned)) = (operation.answer, operation.return_ns) else {
            continue;
        };
        if returned >= view.forgets_from() {
            continue;
        }
        found.judged().sold_out += 1;
        let most = taken.most(operation.call_ns, returned);
        if most < view.round.units {
            let units = view.round.units;
            let message = format!(
                "{operation}, but at no moment between the two can more than {most} of {units} units have been taken"
            );
            found.violation(Rule::SoldOutWhileFree, message);
        }
    }
}
