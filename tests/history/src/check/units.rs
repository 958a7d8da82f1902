//! No two reservations own a unit at once.

use crate::check::certain::{Reservation, Reservations};
use crate::check::report::{Found, Rule};
use crate::record::{Name, Supply, moment};

/// One reservation's certain time with a unit.
struct Owned<'a> {
    unit: u32,
    from: u64,
    until: u64,
    reservation: &'a Reservation<'a>,
}

/// Two intervals of one unit must not overlap. By their starts, each is compared with the earlier one that ends last.
pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    let view = found.view;
    let owned = reservations.iter().filter_map(|reservation| {
        let (from, until) = reservation.owned?;
        Some(Owned { unit: reservation.unit?, from, until, reservation })
    });
    let mut owned: Vec<Owned<'_>> = owned.collect();
    owned.sort_by_key(|one| (one.unit, one.from));
    found.report.judged.owned += owned.len();
    let in_words = |one: &Owned<'_>| {
        let user = one.reservation.user().map_or("somebody", Name::text);
        format!("{} ({user}) from {} to {}", one.reservation.name, moment(one.from), moment(one.until))
    };
    for of_unit in owned.chunk_by(|one, other| one.unit == other.unit) {
        let mut longest = &of_unit[0];
        for one in &of_unit[1..] {
            if one.from < longest.until {
                let message = format!("unit {} was had by {} and by {}", one.unit, in_words(longest), in_words(one));
                found.violation(Rule::UnitOwnedTwice, message);
            }
            if one.until > longest.until {
                longest = one;
            }
        }
    }
    // Otherwise units may have been added later.
    if view.round.supply == Supply::AtOnce {
        for reservation in reservations.iter() {
            if let Some(unit) = reservation.unit.filter(|unit| !(1..=view.round.units).contains(unit)) {
                let message = format!("{} has unit {unit} of {}", reservation.name, view.round.units);
                found.violation(Rule::NoSuchUnit, message);
            }
        }
    }
}
