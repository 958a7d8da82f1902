//! The same question gets the same answer, and final states stay final.

use std::collections::HashMap;

use crate::check::certain::{Reservation, Reservations, Seen};
use crate::check::report::{Found, Rule};
use crate::check::view::Asks;
use crate::record::{Answer, Name, Operation, PaymentOutcome, Question, Refusal, Status, moment};

pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    in_time(found);
    asked_again(found, reservations);
    of_one_user(found);
    payments(found);
    for reservation in reservations.iter() {
        course(found, reservation);
        units(found, reservation);
        known(found, reservation);
    }
}

fn in_time(found: &mut Found<'_>) {
    for operation in &found.view.operations {
        if operation.last_ns() < operation.call_ns {
            found.violation(Rule::OutOfTime, operation.to_string());
        }
    }
}

/// A key has one reservation. If Redis forgets nothing, a user who certainly has it from before the call to after the
/// return never hears `sold_out`, `limit_reached` or `not_open`.
fn asked_again(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    let view = found.view;
    for asks in view.asks.iter().filter(|asks| asks.is_keyed && asks.operations.len() > 1) {
        let mut accepted = asks.operations.iter().filter_map(|operation| match operation.answer {
            Answer::Accepted { reservation, .. } => Some((operation, reservation)),
            _ => None,
        });
        let Some((first, reservation)) = accepted.next() else { continue };
        if let Some((other, _)) = accepted.find(|(_, other)| *other != reservation) {
            found.violation(Rule::TwoAnswers, format!("{first}, and {other}"));
        }
        let owned = reservations.get(reservation).and_then(|known| known.owned);
        let Some((from, until)) = owned.filter(|_| view.keeps()) else { continue };
        for again in &asks.operations {
            let Answer::Refused(refusal) = again.answer else { continue };
            let contradicts = matches!(refusal, Refusal::SoldOut | Refusal::LimitReached | Refusal::NotOpen);
            if contradicts && again.call_ns > from && again.last_ns() < until {
                let has = format!("{reservation} was theirs from {} to {}", moment(from), moment(until));
                found.violation(Rule::TwoAnswers, format!("{first}, and {again}, while {has}"));
            }
        }
    }
}

/// A reservation is accepted for one user and one key. Requests without a key share it if they carry the same pass.
fn of_one_user(found: &mut Found<'_>) {
    let view = found.view;
    let mut first: HashMap<Name, &Asks<'_>> = HashMap::new();
    for asks in &view.asks {
        for operation in asks.effective() {
            let Answer::Accepted { reservation, .. } = operation.answer else { continue };
            let other = *first.entry(reservation).or_insert(asks);
            if !std::ptr::eq(other, asks) && (other.user != asks.user || (other.is_keyed && asks.is_keyed)) {
                let other = other.effective().next().expect("one was accepted");
                found.violation(Rule::TwoAnswers, format!("{other}, and {operation}"));
            }
        }
    }
}

/// Every report of one payment gets the same outcome.
fn payments(found: &mut Found<'_>) {
    let view = found.view;
    let mut first: HashMap<(Name, Name), &Operation> = HashMap::new();
    for operation in &view.operations {
        let Question::Pay { reservation, payment } = operation.question else { continue };
        let Answer::Payment(PaymentOutcome::Applied | PaymentOutcome::RefundDue) = operation.answer else { continue };
        let known = *first.entry((reservation, payment)).or_insert(operation);
        if known.answer != operation.answer {
            found.violation(Rule::TwoAnswers, format!("{known}, and {operation}"));
        }
    }
}

const fn stage(status: Status) -> u8 {
    match status {
        Status::Queued => 0,
        Status::PendingPayment => 1,
        _ => 2,
    }
}

/// A reservation is queued, then pending, then in one of its ends. A look that starts after another has returned never
/// shows an earlier status, and no two looks show different ends. A reservation can fail only if it never was an order.
/// If Redis may have forgotten that an order was made, `queued` may come again.
fn course(found: &mut Found<'_>, reservation: &Reservation<'_>) {
    let (view, seen, name) = (found.view, &reservation.seen, reservation.name);
    let mut went_back = |message| found.violation(Rule::WentBack, message);
    let ends: Vec<&Seen<'_>> = seen.iter().filter(|seen| seen.status.is_final()).collect();
    if let Some(other) = ends.iter().find(|other| other.status != ends[0].status) {
        went_back(format!("{name} has two ends: {}, and {}", ends[0].said(), other.said()));
    }
    let pending = seen.iter().find(|seen| seen.status == Status::PendingPayment);
    let failed = ends.iter().find(|seen| matches!(seen.status, Status::Failed | Status::Granted));
    if let (Some(pending), Some(end)) = (pending, failed) {
        went_back(format!("{name} was no order that was to be paid: {}, and {}", pending.said(), end.said()));
    }
    let mut by_return: Vec<&Seen<'_>> = seen.iter().collect();
    by_return.sort_by_key(|seen| seen.return_ns);
    let (mut returned, mut farthest) = (by_return.into_iter().peekable(), None::<&Seen<'_>>);
    // In the order of their calls, with the ledger's status last.
    for now in seen {
        while let Some(before) = returned.next_if(|before| before.return_ns < now.call_ns) {
            if farthest.is_none_or(|far| stage(before.status) > stage(far.status)) {
                farthest = Some(before);
            }
        }
        let Some(far) = farthest.filter(|far| stage(far.status) > stage(now.status)) else { continue };
        if now.status != Status::Queued || now.return_ns < view.forgets_from() {
            return went_back(format!("{name} went back: {}, and then {}", far.said(), now.said()));
        }
    }
}

/// An order has one unit. So has any other reservation, if Redis forgets nothing and its user did not ask again.
fn units(found: &mut Found<'_>, reservation: &Reservation<'_>) {
    let view = found.view;
    let Some(unit) = reservation.unit else { return };
    let counts_queued = view.keeps() && !reservation.is_asked_again();
    let is_other = |seen: &&Seen<'_>| {
        let counts = match seen.status {
            Status::Queued => counts_queued,
            Status::Failed => false,
            _ => true,
        };
        counts && seen.unit.is_some_and(|other| other != unit)
    };
    let accepted = reservation.accepted.filter(|operation| {
        counts_queued && matches!(operation.answer, Answer::Accepted { unit: Some(other), .. } if other.get() != unit)
    });
    let other = reservation.seen.iter().find(is_other);
    let is_failed = reservation.seen.iter().any(|seen| seen.status == Status::Failed);
    let said = match (other, accepted) {
        _ if is_failed => return,
        (Some(Seen { operation: Some(operation), .. }), _) => operation.to_string(),
        (_, Some(operation)) => format!("{operation}, with another one"),
        _ => return,
    };
    found.violation(Rule::UnitChanged, format!("{} has unit {unit}, but {said}", reservation.name));
}

/// A user who was told of a reservation never hears that it does not exist. If Redis may have forgotten it, this
/// applies once it was seen as an order.
fn known(found: &mut Found<'_>, reservation: &Reservation<'_>) {
    let view = found.view;
    let Some(accepted) = reservation.accepted else { return };
    let ordered = reservation.seen.iter().filter(|seen| seen.status != Status::Queued).map(|seen| seen.return_ns);
    let ordered = ordered.min().unwrap_or(u64::MAX);
    for operation in &reservation.unknown {
        let known_from = if operation.last_ns() < view.forgets_from() { accepted.last_ns() } else { ordered };
        if operation.user == accepted.user && operation.call_ns > known_from {
            found.violation(Rule::Forgotten, format!("{accepted}, and then {operation}"));
        }
    }
}
