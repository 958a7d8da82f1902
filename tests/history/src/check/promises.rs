//! Every promise is kept, and nothing happens without a request.

use std::collections::HashSet;

use crate::check::certain::{Reservation, Reservations};
use crate::check::report::{Found, Rule};
use crate::record::{Name, Operation, Question, Status};

/// Reasons to fail that are possible only if Redis forgot something.
const NEEDS_LOSS: [&str; 2] = ["sold_out", "limit_reached"];

pub(super) fn check(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    if found.view.read_at().is_some() {
        for reservation in reservations.iter() {
            kept(found, reservation);
        }
    }
    if found.view.is_recorded() {
        causes(found, reservations);
    }
}

/// Every accepted reservation has an order in the ledger, in whatever state, for the user who was told. A failed one
/// has a reason; if Redis forgets nothing, that cannot be that its unit or its place in the limit is taken.
fn kept(found: &mut Found<'_>, reservation: &Reservation<'_>) {
    let view = found.view;
    let Some(accepted) = reservation.accepted else { return };
    found.report.judged.promises += 1;
    let Some(order) = reservation.order else {
        let message = format!("{accepted}, and the ledger has nothing about it");
        return found.violation(Rule::PromiseBroken, message);
    };
    if order.user != accepted.user {
        found.violation(Rule::PromiseBroken, format!("{accepted}, and the ledger has it as {}'s", order.user));
    }
    match (order.status, order.reason) {
        (Status::Failed, None) => {
            found.violation(Rule::NoReason, format!("{accepted}, and it failed without a reason"));
        }
        (Status::Failed, Some(reason)) if view.keeps() && NEEDS_LOSS.contains(&reason.text()) => {
            let message = format!("{accepted}, and it failed ({reason}) although Redis forgot nothing");
            found.violation(Rule::NoReason, message);
        }
        (Status::Queued, _) => {
            found.violation(Rule::PromiseBroken, format!("{accepted}, and the ledger calls it queued"));
        }
        _ => {}
    }
}

/// If all requests are recorded, the user of each order asked for a unit, a reservation is seen cancelled only after a
/// request to cancel it, and seen paid only after the provider reported a payment.
fn causes(found: &mut Found<'_>, reservations: &Reservations<'_>) {
    let view = found.view;
    let asked = view.operations.iter().filter(|one| matches!(one.question, Question::Reserve { .. }));
    let asked: HashSet<Name> = asked.map(|one| one.user).collect();
    for order in view.orders.iter().filter(|order| !asked.contains(&order.user)) {
        let message = format!("{} has {} and never asked for a unit", order.user, order.reservation);
        found.violation(Rule::WithoutCause, message);
    }
    for reservation in reservations.iter() {
        let first = |calls: &[&Operation]| calls.iter().map(|call| call.call_ns).min().unwrap_or(u64::MAX);
        for (status, asked_at, what) in [
            (Status::Cancelled, first(&reservation.cancels), "asked to cancel it"),
            (Status::Paid, first(&reservation.payments), "told of a payment"),
        ] {
            let early = reservation.seen.iter().find(|seen| seen.status == status && seen.return_ns <= asked_at);
            let Some(seen) = early else { continue };
            let message = format!("{}: {}, and nobody had {what}", reservation.name, seen.said());
            found.violation(Rule::WithoutCause, message);
        }
    }
}
