//! No user has more than the limit, and only users who may have that many hear `limit_reached`.

use std::collections::{BTreeMap, HashMap};

use crate::check::certain::Reservations;
use crate::check::holders::Holder;
use crate::check::report::{Found, Rule};
use crate::check::sold_out::Spans;
use crate::record::{Name, Refusal, moment};

pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations<'_>, holders: &[Holder]) {
    certainly_over(found, reservations);
    reached_too_early(found, holders);
}

/// At no moment do more of a user's reservations certainly have a unit than the limit allows. Reports each user once.
fn certainly_over(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    let limit = found.view.round.limit;
    let mut owned: BTreeMap<Name, Vec<(u64, u64, &str)>> = BTreeMap::new();
    for one in reservations.iter() {
        if let (Some(user), Some((from, until))) = (one.user(), one.owned) {
            owned.entry(user).or_default().push((from, until - 1, one.name.text()));
        }
    }
    for (user, owned) in owned {
        let intervals = owned.iter().map(|(first, last, _)| (*first, *last));
        let Some(at) = Spans::of(intervals, limit.saturating_add(1)).first() else { continue };
        let had = owned.iter().filter(|(first, last, _)| (*first..=*last).contains(&at));
        let mut names: Vec<&str> = had.map(|(.., name)| *name).collect();
        names.sort_unstable();
        let (count, at, names) = (names.len(), moment(at), names.join(", "));
        found.violation(Rule::OverTheLimit, format!("{user} had {count} of at most {limit} at {at}: {names}"));
    }
}

/// A user who hears `limit_reached` may have had that many between call and return. Not checked: answers after Redis
/// may have forgotten that a unit was given back, and rounds with buyers that neither history nor ledger names.
fn reached_too_early(found: &mut Found<'_>, holders: &[Holder]) {
    let view = found.view;
    if !view.orders_are_all() && !view.is_recorded() {
        return;
    }
    let mut of_user: HashMap<Name, Vec<&Holder>> = HashMap::new();
    for holder in holders {
        of_user.entry(holder.user).or_default().push(holder);
    }
    for (operation, returned) in view.refused(Refusal::LimitReached) {
        let may_have = of_user.get(&operation.user).into_iter().flatten();
        let may_have = may_have.filter(|holder| holder.from <= returned && holder.until >= operation.call_ns).count();
        if may_have < view.round.limit as usize {
            let message = format!("{operation}, but can have had no more than {may_have} then");
            found.violation(Rule::LimitReachedTooEarly, message);
        }
    }
}
