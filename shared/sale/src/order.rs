use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::{Award, CampaignId, EpochMs, Price, Reservation};

pub const MAX_PAYMENT_ID_LENGTH: usize = 64;

/// The state of an order.
///
/// ```text
/// (nothing) ── place ──► PENDING ── pay ────► PAID
///     ├── place ──► GRANTED       in a sale without payment
///     │                     ├────── expire ─► EXPIRED
///     │                     └────── cancel ─► CANCELLED
///     ├── fence ──► CANCELLED     the reservation was cancelled before its order was written
///     └── fence ──► FAILED        the order could not be made
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderState {
    /// Waiting for payment. Has its unit.
    Pending,
    /// Nothing to pay. Final: has its unit for good.
    Granted,
    /// Paid. Final: has its unit for good.
    Paid,
    /// Not paid in time. Final: its unit was given back.
    Expired,
    /// Cancelled by the user. Final: its unit was given back.
    Cancelled,
    /// Could not be made. Final: it has no unit.
    Failed,
}

impl OrderState {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The status that users see. It is separate because the name in the ledger may never change.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Pending => "pending_payment",
            Self::Granted => "granted",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether an order in this state has its unit and slot, with guards in the ledger.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Pending | Self::Granted | Self::Paid)
    }
}

/// A step of an existing order. The ledger makes each one on the condition of [`Transition::from`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Transition {
    Pay,
    Expire,
    Cancel,
}

impl Transition {
    /// The only state from which the step is possible.
    pub const fn from(self) -> OrderState {
        match self {
            Self::Pay | Self::Expire | Self::Cancel => OrderState::Pending,
        }
    }

    pub const fn to(self) -> OrderState {
        match self {
            Self::Pay => OrderState::Paid,
            Self::Expire => OrderState::Expired,
            Self::Cancel => OrderState::Cancelled,
        }
    }
}

/// Why an order can never be made. The list is complete: any other fault passes, and its message is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Failure {
    SoldOut,
    /// Other orders and reservations of the user have all of the user's slots.
    LimitReached,
    CampaignLimit,
    /// The draw had closed when it reached the ledger: Redis had lost it, and its message took that long.
    EntriesClosed,
    /// The ledger has no such published sale. Redis loads only published ones, and they stay published.
    UnknownSale,
}

impl Failure {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The reservation. Its id is also the order's.
    #[serde(flatten)]
    pub reservation: Reservation,
    pub state: OrderState,
    pub created_at_ms: EpochMs,
    /// The price. `None` if the order could not be made.
    #[serde(flatten)]
    pub price: Option<Price>,
    pub pay_by_ms: Option<EpochMs>,
    pub award: Option<Award>,
    /// When it was paid, expired, cancelled or failed.
    pub ended_at_ms: Option<EpochMs>,
    pub payment_id: Option<String>,
    pub failure: Option<Failure>,
    /// Payments that the order could not take: the provider must refund them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds_due: Vec<String>,
    /// Those of [`Self::refunds_due`] that were refunded. In both lists, since a repeated callback must find them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds_made: Vec<String>,
    /// Whether its price was paid, and the payment came after it had ended. Then it does not count as unpaid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paid_late: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub campaigns: Vec<CampaignId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RefundState {
    Due,
    Refunded,
}

impl RefundState {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Order {
    pub fn pending(reservation: Reservation, price: Price, created_at_ms: EpochMs, pay_by_ms: EpochMs) -> Self {
        let order = Self::of(reservation, OrderState::Pending, created_at_ms);
        Self { price: Some(price), pay_by_ms: Some(pay_by_ms), ..order }
    }

    pub fn granted(reservation: Reservation, price: Price, now: EpochMs, award: Option<Award>) -> Self {
        let order = Self::of(reservation, OrderState::Granted, now);
        Self { price: Some(price), award, ..order }
    }

    /// The fence of a reservation that its user cancelled before there was an order.
    pub fn cancelled(reservation: Reservation, now: EpochMs) -> Self {
        Self { ended_at_ms: Some(now), ..Self::of(reservation, OrderState::Cancelled, now) }
    }

    pub fn failed(reservation: Reservation, why: Failure, now: EpochMs) -> Self {
        Self { ended_at_ms: Some(now), failure: Some(why), ..Self::of(reservation, OrderState::Failed, now) }
    }

    const fn of(reservation: Reservation, state: OrderState, created_at_ms: EpochMs) -> Self {
        Self {
            reservation,
            state,
            created_at_ms,
            price: None,
            pay_by_ms: None,
            award: None,
            ended_at_ms: None,
            payment_id: None,
            failure: None,
            refunds_due: Vec::new(),
            refunds_made: Vec::new(),
            paid_late: false,
            campaigns: Vec::new(),
        }
    }

    /// The state of its refunds; `None` if it accepted all payments.
    pub fn refund(&self) -> Option<RefundState> {
        let is_made = |payment: &String| self.refunds_made.contains(payment);
        match self.refunds_due.as_slice() {
            [] => None,
            due if due.iter().all(is_made) => Some(RefundState::Refunded),
            _ => Some(RefundState::Due),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OrderState::*;
    use Transition::*;

    #[test]
    fn the_whole_table() {
        let table = Transition::VARIANTS.iter().map(|step| (step.from(), *step, step.to()));
        assert!(table.eq([(Pending, Pay, Paid), (Pending, Expire, Expired), (Pending, Cancel, Cancelled)]));
    }

    #[test]
    fn an_order_that_ended_without_payment_has_no_unit() {
        let live: Vec<_> = OrderState::VARIANTS.iter().filter(|state| state.is_live()).collect();
        assert_eq!(live, [&Pending, &Granted, &Paid]);
    }

    #[test]
    fn names_in_the_ledger_never_change() {
        let names = ["PENDING", "GRANTED", "PAID", "EXPIRED", "CANCELLED", "FAILED"];
        assert_eq!(serde_json::to_value(OrderState::VARIANTS).unwrap(), serde_json::json!(names));
        assert!(OrderState::VARIANTS.iter().map(|state| state.as_str()).eq(names));
    }

    /// A paid order as the ledger stores it.
    const PAID: &str = r#"{
        "id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "user": "alice", "state": "PAID", "lane": 0, "unit": 17,
        "slot": 1, "reserved_at_ms": 1795510800123, "created_at_ms": 1795510800456, "price_minor": 990,
        "currency": "EUR", "pay_by_ms": 1795511700456, "ended_at_ms": 1795510900000, "payment_id": "pay_4711"
    }"#;
    /// A part of an amount.
    const GRANTED: &str = r#"{
        "id": "packet.1.0198f0b2a4c57d1e8f00aabbccddeeff", "user": "alice", "state": "GRANTED", "lane": 0, "unit": 17,
        "slot": 0, "reserved_at_ms": 1795510800123, "created_at_ms": 1795510800456, "price_minor": 0, "currency": "EUR",
        "award": { "kind": "amount", "amount_minor": 137 }
    }"#;
    /// The fence of a reservation that could not become an order.
    const FAILED: &str = r#"{
        "id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "user": "alice", "state": "FAILED", "lane": 0, "unit": 17,
        "slot": 1, "reserved_at_ms": 1795510800123, "created_at_ms": 1795510800456, "ended_at_ms": 1795510800456,
        "failure": "sold_out"
    }"#;

    #[test]
    fn stored_orders_stay_readable_and_are_written_the_same() {
        for stored in [PAID, GRANTED, FAILED] {
            let order: Order = serde_json::from_str(stored).unwrap();
            let written: serde_json::Value = serde_json::to_value(&order).unwrap();
            assert_eq!(written, serde_json::from_str::<serde_json::Value>(stored).unwrap());
        }
        let reservation = serde_json::from_str::<Order>(PAID).unwrap().reservation;
        let Reservation { unit, slot, lane, user, .. } = &reservation;
        assert_eq!((unit.0, slot.0, lane.0, user.as_str()), (17, 1, 0, "alice"));
        let failed = Order::failed(reservation, Failure::SoldOut, EpochMs(1_795_510_800_456));
        assert_eq!(failed, serde_json::from_str(FAILED).unwrap());
    }
}
