//! No user has more than the limit, and only users who may have that many hear `limit_reached`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::check::certain::{Reservation, Reservations};
use crate::check::holders::Holder;
use crate::check::report::{Found, Rule};
use crate::record::{Name, Refusal, moment};

pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations<'_>, holders: &[Holder]) {
    certainly_over(found, reservations);
    reached_too_early(found, holders);
}

/// At no moment do more of a user's reservations certainly have a unit than the limit allows. Reports each user once.
fn certainly_over(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    let limit = found.view.round.limit as usize;
    let owned = reservations.iter().filter_map(|one| Some((one.user()?, one.owned?, one)));
    let mut owned: Vec<(Name, (u64, u64), &Reservation<'_>)> = owned.collect();
    owned.sort_by_key(|(user, (from, _), _)| (*user, *from));
    for of_user in owned.chunk_by(|one, other| one.0 == other.0) {
        // The user's current units, by when they end.
        let mut has: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for (number, (user, (from, until), _)) in of_user.iter().enumerate() {
            while has.peek().is_some_and(|Reverse((ends, _))| ends <= from) {
                has.pop();
            }
            has.push(Reverse((*until, number)));
            if has.len() > limit {
                let mut names: Vec<&str> =
                    has.iter().map(|Reverse((_, number))| of_user[*number].2.name.text()).collect();
                names.sort_unstable();
                let (count, at, names) = (names.len(), moment(*from), names.join(", "));
                let message = format!("{user} had {count} of at most {limit} at {at}: {names}");
                found.violation(Rule::OverTheLimit, message);
                break;
            }
        }
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
