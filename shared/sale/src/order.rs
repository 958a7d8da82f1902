use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::{EpochMs, Lane, Price, ReservationId, Slot, Unit, UserId};

/// The state of an order.
///
/// ```text
/// (nothing) ── place ──► PENDING ── pay ────► PAID
///     │                     ├────── expire ─► EXPIRED
///     │                     └────── cancel ─► CANCELLED
///     ├── fence ──► CANCELLED     a reservation was cancelled before its order was made
///     └── fence ──► FAILED        the order could not be made
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderState {
    /// Made, waiting for payment. Has its unit.
    Pending,
    /// Paid. Final: has its unit for good.
    Paid,
    /// Not paid in time. Final: its unit went back.
    Expired,
    /// Cancelled by the user. Final: its unit went back.
    Cancelled,
    /// Could not be made. Final: it has no unit.
    Failed,
}

impl OrderState {
    /// The state's name in the ledger.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What its user reads. The name in the ledger may never change, so this one is apart.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Pending => "pending_payment",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether an order in this state has its unit and slot, guarded in the ledger.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Pending | Self::Paid)
    }

    /// The state after `transition`, or `None` where it is forbidden.
    pub fn after(self, transition: Transition) -> Option<Self> {
        (self == transition.from()).then_some(transition.to())
    }
}

/// A step of an order that exists. The ledger makes each one on the condition of [`Transition::from`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Transition {
    /// The payment provider says that it was paid.
    Pay,
    /// The payment window is over.
    Expire,
    /// The user gives it back.
    Cancel,
}

impl Transition {
    /// The one state from which the step may be taken.
    pub const fn from(self) -> OrderState {
        match self {
            Self::Pay | Self::Expire | Self::Cancel => OrderState::Pending,
        }
    }

    /// The state that it leads to.
    pub const fn to(self) -> OrderState {
        match self {
            Self::Pay => OrderState::Paid,
            Self::Expire => OrderState::Expired,
            Self::Cancel => OrderState::Cancelled,
        }
    }
}

/// Why an order can never be made. These are all the reasons: any other fault passes, and its message comes back until it
/// has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Its unit belongs to another order and no unit is left to give it.
    SoldOut,
    /// The user already has an order in its slot.
    LimitReached,
    /// The ledger has no such published sale. Redis loads only published ones, and they stay published.
    UnknownSale,
    /// It failed for about a minute. Earlier versions gave up then; it is still read, and no longer written.
    DeadLetter,
}

/// The durable record of a reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The reservation's id, and the order's.
    pub id: ReservationId,
    /// Whose it is.
    pub user: UserId,
    /// Where it stands.
    pub state: OrderState,
    /// The lane that its unit came from.
    pub lane: Lane,
    /// Its unit.
    pub unit: Unit,
    /// Its slot.
    pub slot: Slot,
    /// When the reservation was made, by Redis's clock.
    pub reserved_at_ms: EpochMs,
    /// When the order was written.
    pub created_at_ms: EpochMs,
    /// What it costs. `None` for an order that was never made.
    #[serde(flatten)]
    pub price: Option<Price>,
    /// Until when it may be paid. `None` for an order that was never made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_by_ms: Option<EpochMs>,
    /// When it was paid, expired or cancelled, or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<EpochMs>,
    /// The payment that made it PAID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_id: Option<String>,
    /// Why it is FAILED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Payments that the order could not take: the provider is to give them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds_due: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use OrderState::*;
    use Transition::*;

    #[test]
    fn the_whole_table() {
        let allowed = [(Pending, Pay, Paid), (Pending, Expire, Expired), (Pending, Cancel, Cancelled)];
        for state in OrderState::VARIANTS {
            for transition in Transition::VARIANTS {
                let expected = allowed.iter().find(|row| row.0 == *state && row.1 == *transition).map(|row| row.2);
                assert_eq!(state.after(*transition), expected, "{state:?} {transition:?}");
            }
        }
    }

    #[test]
    fn only_pending_can_be_left() {
        for state in OrderState::VARIANTS {
            let can_leave = Transition::VARIANTS.iter().any(|t| state.after(*t).is_some());
            assert_eq!(can_leave, *state == Pending, "{state:?}");
        }
    }

    #[test]
    fn an_order_that_ended_without_payment_has_no_unit() {
        let live: Vec<_> = OrderState::VARIANTS.iter().filter(|state| state.is_live()).collect();
        assert_eq!(live, [&Pending, &Paid]);
    }

    #[test]
    fn names_in_the_ledger_never_change() {
        let names = ["PENDING", "PAID", "EXPIRED", "CANCELLED", "FAILED"];
        assert_eq!(serde_json::to_value(OrderState::VARIANTS).unwrap(), serde_json::json!(names));
        assert!(OrderState::VARIANTS.iter().map(|state| state.as_str()).eq(names));
    }
}
