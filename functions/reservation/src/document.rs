use jiff::Timestamp;
use ledger::OrdersPage;
use sale::{
    EpochMs, Failure, Order, OrderState, Price, RefundState, Reservation, ReservationId, RoundId, SaleId, ShownAward,
};
use serde::Serialize;

pub(crate) const QUEUED: &str = "queued";
/// How long a reservation usually waits for its order, in milliseconds. A later poll gets the order written at once.
pub(crate) const QUEUED_MS: u64 = 2_000;
/// Pauses between two polls, in milliseconds. Most orders are written within a second or two.
const POLL_QUEUED_MS: u64 = 500;
const POLL_LONG_QUEUED_MS: u64 = 1_000;
/// Nothing happens until the buyer pays or the payment window ends.
const POLL_PENDING_MS: u64 = 10_000;
/// An order expires shortly after its payment window.
const POLL_EXPIRING_MS: u64 = 1_500;
/// A draw is minutes to days away.
const POLL_ENTERED_MS: u64 = 20_000;
/// A user without reservations, in a round that Redis lost, may have some in a moment.
const POLL_RESTORING_MS: u64 = 2_000;

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
pub(crate) struct Document {
    reservation_id: ReservationId,
    status: &'static str,
    unit: u32,
    reserved_at: Timestamp,
    #[serde(flatten)]
    price: Option<Price>,
    pay_by: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    reason: Option<Failure>,
    /// What the unit won. Absent until there is an order, since the ledger may still give the reservation another unit.
    award: Option<ShownAward>,
    #[serde(skip_serializing_if = "is_false")]
    refund_due: bool,
    /// When to poll again, in milliseconds. Absent if the state is final.
    poll_after_ms: Option<u64>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Document {
    pub(crate) fn queued(reservation: &Reservation, now: EpochMs) -> Self {
        let waited_ms = now.since_ms(reservation.reserved_at_ms);
        let poll_after_ms = Some(if waited_ms < QUEUED_MS { POLL_QUEUED_MS } else { POLL_LONG_QUEUED_MS });
        Self { poll_after_ms, ..Self::bare(reservation) }
    }

    fn bare(reservation: &Reservation) -> Self {
        Self {
            reservation_id: reservation.id.clone(),
            status: QUEUED,
            unit: reservation.unit.0,
            reserved_at: reservation.reserved_at_ms.into(),
            price: None,
            pay_by: None,
            ended_at: None,
            reason: None,
            award: None,
            refund_due: false,
            poll_after_ms: None,
        }
    }

    pub(crate) fn of(order: &Order, award: Option<ShownAward>, now: EpochMs) -> Self {
        let poll_after_ms = match (order.state, &award) {
            (OrderState::Pending, _) => {
                let left_ms = order.pay_by_ms.map_or(POLL_PENDING_MS, |pay_by| pay_by.since_ms(now));
                Some((left_ms + POLL_EXPIRING_MS).min(POLL_PENDING_MS))
            }
            (_, Some(ShownAward::Entered)) => Some(POLL_ENTERED_MS),
            _ => None,
        };
        Self {
            status: order.state.status(),
            price: order.price,
            pay_by: order.pay_by_ms.filter(|_| order.state == OrderState::Pending).map(Timestamp::from),
            ended_at: order.ended_at_ms.map(Timestamp::from),
            reason: order.failure,
            award,
            refund_due: order.refund() == Some(RefundState::Due),
            poll_after_ms,
            ..Self::bare(&order.reservation)
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SaleReservationsDocument {
    sale_id: SaleId,
    round: u32,
    reservations: Vec<Document>,
    #[serde(skip_serializing_if = "is_false")]
    restoring: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_after_ms: Option<u64>,
}

impl SaleReservationsDocument {
    /// `restoring` says that Redis lost the round a moment ago.
    pub(crate) fn of(round: &RoundId, reservations: Vec<Document>, restoring: bool) -> Self {
        let pauses = reservations.iter().filter_map(|each| each.poll_after_ms);
        let poll_after_ms = pauses.chain(restoring.then_some(POLL_RESTORING_MS)).min();
        Self { sale_id: round.sale.clone(), round: round.number.0, reservations, restoring, poll_after_ms }
    }
}

#[derive(Serialize)]
pub(crate) struct OrdersDocument {
    orders: Vec<Document>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl OrdersDocument {
    pub(crate) fn of(orders: Vec<Document>, page: &OrdersPage) -> Self {
        Self { orders, next_cursor: page.next.as_ref().map(|(id, created_at_ms)| format!("{}.{id}", created_at_ms.0)) }
    }
}
