//! What is possible: who may have kept a unit from others, and when.

use std::collections::HashMap;

use crate::check::certain::{Reservation, Reservations};
use crate::check::view::View;
use crate::record::{Answer, Name, Question, Status};

/// One that may have kept a unit from others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) user: Name,
    /// Which one, if that is certain. Otherwise it may be any.
    pub(super) unit: Option<u32>,
    pub(super) from: u64,
    pub(super) until: u64,
}

/// Everything that may have kept a unit from others.
///
/// If Redis forgets nothing and the ledger was read when nothing was held any more, these are the ledger's orders:
/// every reservation that Redis made became one, even if it failed or was cancelled. Otherwise they are all requests
/// for a unit that were not refused every time.
///
/// Each may have had its unit from the first call that can have reserved it, and for ever. The one exception is a
/// cancelled reservation: its unit is back when its user hears so, and on sale after its cooldown. An
/// expired order has no such moment: its unit comes back some time after the ledger says so, and no client is told. But
/// it blocks only its own unit, which others may hold too.
pub(super) fn holders(view: &View<'_>, reservations: &Reservations<'_>) -> Vec<Holder> {
    let mut all = Vec::new();
    if view.orders_are_all() {
        let first_calls = first_calls(view);
        for reservation in reservations.iter() {
            let Some(order) = reservation.order else { continue };
            let asked = first_calls.get(&order.user).copied().unwrap_or(0);
            let reserved = order.reserved_ms.and_then(|ms| view.moment(ms)).map_or(0, |(earliest, _)| earliest);
            let (from, until) = (asked.max(reserved), until(view, reservation));
            all.push(Holder { user: order.user, unit: Some(order.unit), from, until });
            all.extend(again(reservation, order.user));
        }
    } else {
        for asks in &view.asks {
            let Some(from) = asks.effective().map(|operation| operation.call_ns).min() else { continue };
            let accepted = asks.effective().find_map(|operation| match operation.answer {
                Answer::Accepted { reservation, .. } => reservations.get(reservation),
                _ => None,
            });
            // Redis may give a unit that it forgot to another user, and then the reservation gets a different one.
            let unit = accepted.filter(|_| view.keeps()).and_then(|reservation| reservation.unit);
            let until = accepted.map_or(u64::MAX, |reservation| until(view, reservation));
            all.push(Holder { user: asks.user, unit, from, until });
            all.extend(accepted.and_then(|reservation| again(reservation, asks.user)));
        }
    }
    all
}

/// When each user first asked for a unit and was not refused.
fn first_calls(view: &View<'_>) -> HashMap<Name, u64> {
    let mut first = HashMap::new();
    for operation in &view.operations {
        let is_refused = matches!(operation.answer, Answer::Refused(_));
        if matches!(operation.question, Question::Reserve { .. }) && !is_refused {
            // Operations are in the order of their calls.
            first.entry(operation.user).or_insert(operation.call_ns);
        }
    }
    first
}

/// When its unit was on sale again after its user heard that it is cancelled.
fn until(view: &View<'_>, reservation: &Reservation<'_>) -> u64 {
    let heard = reservation.cancels.iter().filter_map(|operation| {
        let is_cancelled = matches!(operation.answer, Answer::Is { status: Status::Cancelled, .. });
        operation.return_ns.filter(|_| is_cancelled)
    });
    let cooldown_ns = view.round.cooldown_ms.saturating_mul(1_000_000);
    heard.min().map_or(u64::MAX, |at| at.saturating_add(cooldown_ns))
}

/// A user who asks again for a reservation that has ended may get any unit for a while.
fn again(reservation: &Reservation<'_>, user: Name) -> Option<Holder> {
    let has_ended = reservation.seen.iter().any(|seen| seen.status.is_final() && !seen.status.is_ordered());
    let ended_after = reservation.owned.map_or(0, |(_, until)| until);
    let asked = reservation.asks?.effective();
    let last = asked.filter(|operation| operation.last_ns() > ended_after).map(|operation| operation.call_ns);
    let is_again = has_ended && reservation.is_asked_again();
    let from = last.min().filter(|_| is_again)?;
    Some(Holder { user, unit: None, from: from.max(ended_after), until: u64::MAX })
}
