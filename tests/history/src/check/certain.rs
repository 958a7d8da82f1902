//! What is certain: when a reservation had which unit.

use std::collections::BTreeMap;

use crate::check::view::{Asks, View};
use crate::record::{Answer, Name, Operation, Order, PaymentOutcome, Question, Refusal, Status};

/// Every reservation that the history or the ledger names.
pub(super) struct Reservations<'a>(BTreeMap<Name, Reservation<'a>>);

#[derive(Default)]
pub(super) struct Reservation<'a> {
    pub(super) name: Name,
    /// The operation that accepted it, the first by its return.
    pub(super) accepted: Option<&'a Operation>,
    pub(super) asks: Option<&'a Asks<'a>>,
    /// Whether it answers others as well: requests without a key may carry the same pass.
    has_other_asks: bool,
    pub(super) order: Option<&'a Order>,
    /// Its statuses as seen, in the order of the calls. The ledger's comes last.
    pub(super) seen: Vec<Seen<'a>>,
    /// Operations that cancel it, and that pay it.
    pub(super) cancels: Vec<&'a Operation>,
    pub(super) payments: Vec<&'a Operation>,
    /// Operations answered with `unknown_reservation`.
    pub(super) unknown: Vec<&'a Operation>,
    /// The unit that it certainly had, whenever it had one.
    pub(super) unit: Option<u32>,
    /// It certainly had one and the same unit from the first moment to the second.
    ///
    /// It starts at the return of the first answer that proves the unit:
    /// - 202, or a look that finds it queued, if Redis forgets nothing. If Redis may forget, its reservations prove
    ///   nothing: it may give the unit to another user too, and the ledger will let one of the two have it. Then only an
    ///   order counts;
    /// - a look that finds an order with its unit (`pending_payment`, `granted`, `paid`), an applied payment, or the
    ///   reading of a ledger that has the order;
    /// - if clocks can be compared and Redis forgets nothing, `reserved_ms` of the order, which Redis read in the
    ///   script that gave the unit, plus the clocks' largest difference.
    ///
    /// It ends at the last moment at which it must still have had the unit:
    /// - never, if it was seen granted or paid, which is final;
    /// - the call of a look that finds it queued or pending, and the reading of a ledger in which it is pending;
    /// - if it was cancelled and all requests are recorded, the call of the first request to cancel it, since nothing
    ///   else cancels it;
    /// - if clocks can be compared, `ended_ms` of the order, which the function read before it wrote the end, minus the
    ///   clocks' largest difference.
    ///
    /// An order is made once, and a reservation that ended never gets another, so there is only one such interval. But
    /// a user who asks again with the key of a reservation that ended long ago may briefly get a unit under its name,
    /// until the ledger refuses it. So `queued` counts only if its user did not ask again.
    pub(super) owned: Option<(u64, u64)>,
}

/// A reservation's status as seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) status: Status,
    pub(super) unit: Option<u32>,
    pub(super) call_ns: u64,
    pub(super) return_ns: u64,
    /// None if it is the ledger's.
    pub(super) operation: Option<&'a Operation>,
}

impl Seen<'_> {
    pub(super) fn said(&self) -> String {
        self.operation.map_or_else(|| format!("the ledger says {}", self.status), ToString::to_string)
    }
}

impl Reservation<'_> {
    pub(super) fn user(&self) -> Option<Name> {
        self.order.map(|order| order.user).or(self.accepted.map(|operation| operation.user))
    }

    /// Whether another request for it overlapped or followed the one that first returned it, or may have.
    pub(super) fn is_asked_again(&self) -> bool {
        let (Some(accepted), Some(asks)) = (self.accepted, self.asks) else { return true };
        let is_later = |other: &&Operation| other.last_ns() > accepted.last_ns();
        self.has_other_asks || asks.operations.iter().any(is_later)
    }
}

impl<'a> Reservations<'a> {
    pub(super) fn of(view: &'a View<'a>) -> Self {
        let mut reservations = Self(BTreeMap::new());
        for &operation in &view.operations {
            reservations.note(operation);
        }
        let read_at = view.read_at().unwrap_or(u64::MAX);
        for &order in &view.orders {
            let reservation = reservations.named(order.reservation);
            reservation.order = Some(order);
            let (status, unit) = (order.status, Some(order.unit));
            reservation.seen.push(Seen { status, unit, call_ns: read_at, return_ns: u64::MAX, operation: None });
        }
        for asks in &view.asks {
            reservations.note_asks(asks);
        }
        for reservation in reservations.0.values_mut() {
            reservation.unit = unit(view, reservation);
            reservation.owned = owned(view, reservation);
        }
        reservations
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation<'a>> {
        self.0.values()
    }

    pub(super) fn get(&self, name: Name) -> Option<&Reservation<'a>> {
        self.0.get(&name)
    }

    fn named(&mut self, name: Name) -> &mut Reservation<'a> {
        self.0.entry(name).or_insert_with(|| Reservation { name, ..Reservation::default() })
    }

    fn note(&mut self, operation: &'a Operation) {
        let reservation = match operation.question {
            Question::Reserve { .. } => return,
            Question::Look { reservation } => self.named(reservation),
            Question::Cancel { reservation } => {
                let reservation = self.named(reservation);
                reservation.cancels.push(operation);
                reservation
            }
            Question::Pay { reservation, .. } => {
                let reservation = self.named(reservation);
                reservation.payments.push(operation);
                reservation
            }
        };
        let (status, unit) = match (operation.question, operation.answer) {
            (_, Answer::Payment(PaymentOutcome::Applied)) => (Status::Paid, None),
            (Question::Pay { .. }, _) => return,
            (_, Answer::Is { status, unit }) => (status, unit.map(u32::from)),
            (_, Answer::Refused(Refusal::UnknownReservation)) => return reservation.unknown.push(operation),
            _ => return,
        };
        let (call_ns, return_ns) = (operation.call_ns, operation.last_ns());
        reservation.seen.push(Seen { status, unit, call_ns, return_ns, operation: Some(operation) });
    }

    fn note_asks(&mut self, asks: &'a Asks<'a>) {
        for &operation in &asks.operations {
            let Answer::Accepted { reservation, .. } = operation.answer else { continue };
            let reservation = self.named(reservation);
            reservation.has_other_asks |= reservation.asks.is_some_and(|known| !std::ptr::eq(known, asks));
            let is_first = |known: &Operation| operation.last_ns() < known.last_ns();
            if reservation.accepted.is_none_or(is_first) {
                (reservation.accepted, reservation.asks) = (Some(operation), Some(asks));
            }
        }
    }
}

/// Its unit, from the most reliable answer that names one.
fn unit(view: &View<'_>, reservation: &Reservation<'_>) -> Option<u32> {
    let ordered = reservation.seen.iter().filter(|seen| seen.status != Status::Queued && seen.status != Status::Failed);
    if let Some(unit) = ordered.rev().find_map(|seen| seen.unit) {
        return Some(unit);
    }
    if !view.keeps() || reservation.is_asked_again() {
        return None;
    }
    let accepted = reservation.accepted.and_then(|operation| match operation.answer {
        Answer::Accepted { unit, .. } => unit.map(u32::from),
        _ => None,
    });
    let queued = || reservation.seen.iter().filter(|seen| seen.status == Status::Queued).find_map(|seen| seen.unit);
    accepted.or_else(queued)
}

fn owned(view: &View<'_>, reservation: &Reservation<'_>) -> Option<(u64, u64)> {
    let order = reservation.order;
    if order.is_some_and(|order| order.status == Status::Failed) {
        return None;
    }
    let counts_queued = view.keeps() && !reservation.is_asked_again();
    let (mut from, mut until) = (u64::MAX, 0);
    if let (true, Some(accepted)) = (view.keeps(), reservation.accepted) {
        from = from.min(accepted.last_ns());
    }
    if let (true, Some(reserved_ms)) = (view.keeps(), order.and_then(|order| order.reserved_ms)) {
        from = view.moment(reserved_ms).map_or(from, |(_, latest)| from.min(latest));
    }
    for seen in &reservation.seen {
        let is_live = seen.status.is_ordered() || (counts_queued && seen.status == Status::Queued);
        if is_live {
            // The ledger was read at rest, so its status already holds at the start of the reading.
            let (proved_at, still_at) = match seen.operation {
                Some(_) => (seen.return_ns, seen.call_ns),
                None => (seen.call_ns, seen.call_ns.saturating_add(1)),
            };
            from = from.min(proved_at);
            until = until.max(if seen.status.is_final() { u64::MAX } else { still_at });
        }
    }
    let is_cancelled = reservation.seen.iter().any(|seen| seen.status == Status::Cancelled);
    if is_cancelled && view.is_recorded() {
        let first = reservation.cancels.iter().map(|operation| operation.call_ns).min();
        until = until.max(first.unwrap_or(0));
    }
    let ended = order.filter(|order| matches!(order.status, Status::Expired | Status::Cancelled));
    if let Some((earliest, _)) = ended.and_then(|order| view.moment(order.ended_ms?)) {
        until = until.max(earliest);
    }
    (from < until).then_some((from, until))
}
