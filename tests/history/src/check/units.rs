//! No two reservations own a unit at once.

use crate::check::certain::Reservations;
use crate::check::found::Found;
use crate::check::in_words::moment;
use crate::check::report::Rule;
use crate::record::Supply;

/// One reservation's certain time with a unit.
struct Owned {
    unit: u32,
    from: u64,
    until: u64,
    reservation: usize,
}

/// Two intervals of one unit must not overlap. Sorted by their starts, it is enough to compare each with the earlier
/// one that lasts longest.
pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations) {
    let view = found.view;
    let all: Vec<_> = reservations.iter().collect();
    let owned = all.iter().enumerate().filter_map(|(number, reservation)| {
        let (from, until) = reservation.owned?;
        Some(Owned { unit: reservation.unit?, from, until, reservation: number })
    });
    let mut owned: Vec<Owned> = owned.collect();
    owned.sort_by_key(|one| (one.unit, one.from));
    found.judged().owned += owned.len();
    let in_words = |one: &Owned| {
        let reservation = all[one.reservation];
        let words = found.words();
        let user = reservation.user(view).map_or("somebody", |user| words.text(user)).to_owned();
        format!("{} ({user}) from {} to {}", words.text(reservation.name), moment(one.from), moment(one.until))
    };
    let mut messages = Vec::new();
    for of_unit in owned.chunk_by(|one, other| one.unit == other.unit) {
        let mut longest = &of_unit[0];
        for one in &of_unit[1..] {
            if one.from < longest.until {
                messages.push(format!("unit {} was had by {} and by {}", one.unit, in_words(longest), in_words(one)));
            }
            if one.until > longest.until {
                longest = one;
            }
        }
    }
    messages.into_iter().for_each(|message| found.violation(Rule::UnitOwnedTwice, message));

    // Otherwise units may have been added later.
    if view.round.supply == Supply::AtOnce {
        for reservation in &all {
            if let Some(unit) = reservation.unit.filter(|unit| !(1..=view.round.units).contains(unit)) {
                let name = found.words().text(reservation.name).to_owned();
                found.violation(Rule::NoSuchUnit, format!("{name} has unit {unit} of {}", view.round.units));
            }
        }
    }
}
