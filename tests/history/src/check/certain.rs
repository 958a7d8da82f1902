//! What is certain: when a reservation had which unit.

use std::collections::HashMap;

use crate::check::view::{Asks, View};
use crate::record::{Answer, Name, Operation, Order, PaymentOutcome, Question, Refusal, Status};

/// Every reservation that the history or the ledger names.
pub(super) struct Reservations {
    all: Vec<Reservation>,
    by_name: HashMap<Name, usize>,
}

pub(super) struct Reservation {
    pub(super) name: Name,
    /// Index of the operation that accepted it, the first by its return.
    pub(super) accepted: Option<usize>,
    /// Which question it answers, as an index into the view's.
    pub(super) asks: Option<usize>,
    /// Whether it answers others as well: requests without a key may carry the same pass.
    pub(super) has_other_asks: bool,
    /// Its order, as an index into the view's.
    pub(super) order: Option<usize>,
    /// Its statuses as seen, in the order of the calls. The ledger's comes last.
    pub(super) seen: Vec<Seen>,
    /// Operations that cancel it, and that pay it.
    pub(super) cancels: Vec<usize>,
    pub(super) payments: Vec<usize>,
    /// Operations answered with `unknown_reservation`.
    pub(super) unknown: Vec<usize>,
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
pub(super) struct Seen {
    pub(super) status: Status,
    pub(super) unit: Option<u32>,
    pub(super) call_ns: u64,
    pub(super) return_ns: u64,
    /// None if it is the ledger's.
    pub(super) operation: Option<usize>,
}

impl Seen {
    pub(super) fn said(&self, view: &View<'_>) -> String {
        match self.operation {
            Some(at) => view.operations[at].to_string(),
            None => format!("the ledger says {}", self.status),
        }
    }
}

impl Reservation {
    const fn of(name: Name) -> Self {
        Self {
            name,
            accepted: None,
            asks: None,
            has_other_asks: false,
            order: None,
            seen: Vec::new(),
            cancels: Vec::new(),
            payments: Vec::new(),
            unknown: Vec::new(),
            unit: None,
            owned: None,
        }
    }

    pub(super) fn user(&self, view: &View<'_>) -> Option<Name> {
        let order = self.order.map(|at| view.orders[at].user);
        order.or_else(|| Some(view.operations[self.accepted?].user))
    }

    /// Whether another request for it overlapped or followed the one that first returned it, or may have.
    pub(super) fn is_asked_again(&self, view: &View<'_>) -> bool {
        let (Some(accepted), Some(asks)) = (self.accepted, self.asks) else { return true };
        let first_heard = view.operations[accepted].last_ns();
        let is_later = |at: &usize| *at != accepted && view.operations[*at].last_ns() > first_heard;
        self.has_other_asks || view.asks[asks].operations.iter().any(is_later)
    }
}

impl Reservations {
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut reservations = Self { all: Vec::new(), by_name: HashMap::new() };
        for (at, operation) in view.operations.iter().enumerate() {
            reservations.note(at, operation);
        }
        let read_at = view.read_at().unwrap_or(u64::MAX);
        for (at, order) in view.orders.iter().enumerate() {
            let reservation = reservations.named(order.reservation);
            reservation.order = Some(at);
            let Order { status, unit, .. } = **order;
            let seen = Seen { status, unit: Some(unit), call_ns: read_at, return_ns: u64::MAX, operation: None };
            reservation.seen.push(seen);
        }
        for (number, asks) in view.asks.iter().enumerate() {
            reservations.note_asks(view, number, asks);
        }
        for reservation in &mut reservations.all {
            reservation.unit = unit(view, reservation);
            reservation.owned = owned(view, reservation);
        }
        reservations
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.all.iter()
    }

    pub(super) fn get(&self, name: Name) -> Option<&Reservation> {
        self.by_name.get(&name).map(|at| &self.all[*at])
    }

    fn named(&mut self, name: Name) -> &mut Reservation {
        let at = *self.by_name.entry(name).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Reservation::of(name));
        }
        &mut self.all[at]
    }

    fn note(&mut self, at: usize, operation: &Operation) {
        let (reservation, is_payment) = match operation.question {
            Question::Reserve { .. } => return,
            Question::Look { reservation } => (reservation, false),
            Question::Cancel { reservation } => {
                self.named(reservation).cancels.push(at);
                (reservation, false)
            }
            Question::Pay { reservation, .. } => {
                self.named(reservation).payments.push(at);
                (reservation, true)
            }
        };
        if operation.answer == Answer::Refused(Refusal::UnknownReservation) && !is_payment {
            self.named(reservation).unknown.push(at);
        }
        let (status, unit) = match operation.answer {
            Answer::Is { status, unit } if !is_payment => (status, unit.map(u32::from)),
            Answer::Payment(PaymentOutcome::Applied) => (Status::Paid, None),
            _ => return,
        };
        let (call_ns, return_ns) = (operation.call_ns, operation.last_ns());
        self.named(reservation).seen.push(Seen { status, unit, call_ns, return_ns, operation: Some(at) });
    }

    fn note_asks(&mut self, view: &View<'_>, number: usize, asks: &Asks) {
        for &at in &asks.operations {
            let operation = view.operations[at];
            let Answer::Accepted { reservation, .. } = operation.answer else { continue };
            let reservation = self.named(reservation);
            reservation.has_other_asks |= reservation.asks.is_some_and(|known| known != number);
            let is_first = |known: usize| (operation.last_ns(), at) < (view.operations[known].last_ns(), known);
            if reservation.accepted.is_none_or(is_first) {
                (reservation.accepted, reservation.asks) = (Some(at), Some(number));
            }
        }
    }
}

/// Its unit, from the most reliable answer that names one.
fn unit(view: &View<'_>, reservation: &Reservation) -> Option<u32> {
    let ordered = reservation.seen.iter().filter(|seen| seen.status != Status::Queued && seen.status != Status::Failed);
    if let Some(unit) = ordered.rev().find_map(|seen| seen.unit) {
        return Some(unit);
    }
    if !view.keeps() || reservation.is_asked_again(view) {
        return None;
    }
    let accepted = reservation.accepted.and_then(|at| match view.operations[at].answer {
        Answer::Accepted { unit, .. } => unit.map(u32::from),
        _ => None,
    });
    let queued = || reservation.seen.iter().filter(|seen| seen.status == Status::Queued).find_map(|seen| seen.unit);
    accepted.or_else(queued)
}

fn owned(view: &View<'_>, reservation: &Reservation) -> Option<(u64, u64)> {
    let order = reservation.order.map(|at| view.orders[at]);
    if order.is_some_and(|order| order.status == Status::Failed) {
        return None;
    }
    let counts_queued = view.keeps() && !reservation.is_asked_again(view);
    let (mut from, mut until) = (u64::MAX, 0);
    if let (true, Some(at)) = (view.keeps(), reservation.accepted) {
        from = from.min(view.operations[at].last_ns());
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
        let first = reservation.cancels.iter().map(|at| view.operations[*at].call_ns).min();
        until = until.max(first.unwrap_or(0));
    }
    let ended = order.filter(|order| matches!(order.status, Status::Expired | Status::Cancelled));
    if let Some((earliest, _)) = ended.and_then(|order| view.moment(order.ended_ms?)) {
        until = until.max(earliest);
    }
    (from < until).then_some((from, until))
}
