use jiff::Timestamp;
use ledger::OrdersPage;
use sale::{Claim, Failure, Order, OrderState, Price, ReservationId, ShownAward};
use serde::Serialize;

/// A reservation as its user sees it.
#[derive(Serialize)]
pub(crate) struct Document {
    reservation_id: ReservationId,
    status: &'static str,
    unit: u32,
    reserved_at: Timestamp,
    #[serde(flatten)]
    price: Option<Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_by: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Failure>,
    /// What the unit won. Only an order has it: until then the ledger may give the reservation another unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    award: Option<ShownAward>,
    #[serde(skip_serializing_if = "is_false")]
    refund_due: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Document {
    /// A claim whose order is not written yet.
    pub(crate) fn queued(claim: &Claim) -> Self {
        Self {
            reservation_id: claim.id.clone(),
            status: "queued",
            unit: claim.unit.0,
            reserved_at: claim.reserved_at_ms.into(),
            price: None,
            pay_by: None,
            ended_at: None,
            reason: None,
            award: None,
            refund_due: false,
        }
    }

    /// An order, and what it won.
    pub(crate) fn of(order: &Order, award: Option<ShownAward>) -> Self {
        Self {
            status: order.state.status(),
            price: order.price,
            pay_by: order.pay_by_ms.filter(|_| order.state == OrderState::Pending).map(Timestamp::from),
            ended_at: order.ended_at_ms.map(Timestamp::from),
            reason: order.failure,
            award,
            refund_due: !order.refunds_due.is_empty(),
            ..Self::queued(&order.claim)
        }
    }

    pub(crate) const fn status(&self) -> &'static str {
        self.status
    }
}

/// A page of a user's orders.
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
