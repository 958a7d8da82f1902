//! When the reason for which a reservation fails is true.

use crate::Protocol;
use crate::state::{Hold, IDS, Order, OrderState, State};

impl Protocol {
    /// Whether a reservation may fail for this reason now. The ledger and Redis together are the truth: neither alone knows
    /// everything that is alive.
    ///
    /// Sold out: each unit is a live order's, or a reservation in Redis has it that may still become one. A unit that is in
    /// no place is left, since reconciliation restores it. At the limit: so many other reservations of the user are alive.
    pub(crate) fn is_true(&self, state: &State, id: u8, why: OrderState) -> bool {
        match why {
            OrderState::SoldOut => {
                (0..self.scope.units).all(|unit| (0..).take(IDS).any(|other| has(state, other) == Some(unit)))
            }
            OrderState::Failed => {
                let user = |other: &u8| *other != id && self.user(*other) == self.user(id);
                (0..).take(IDS).filter(user).filter(|other| has(state, *other).is_some()).count()
                    >= self.scope.limit.into()
            }
            _ => true,
        }
    }
}

/// The unit of a live reservation.
fn has(state: &State, id: u8) -> Option<u8> {
    match state.ledger.orders[usize::from(id)] {
        Some(order) => Some(order).filter(|order| Order::is_live(*order)).map(|order| order.unit),
        None => state.redis.holds[usize::from(id)].filter(|hold| Hold::is_live(*hold)).map(|hold| hold.unit),
    }
}
