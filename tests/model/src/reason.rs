//! When the reason to fail a reservation is true.

use crate::Protocol;
use crate::job::Refusal;
use crate::state::State;
use crate::stored::{OrderState, Seat};

impl Protocol {
    /// Whether a reservation may fail for this reason now, whatever Redis or the ledger alone would say. What the ledger has
    /// just refused counts as taken.
    ///
    /// Sold out: each unit is an order's, or Redis does not offer it. So a unit that Redis lost is only left once
    /// reconciliation restores it, for everybody. At the limit: each slot of the user is an order's, or another
    /// reservation in Redis has it.
    pub(crate) fn is_true(&self, state: &State, seat: Seat, refusal: Refusal, why: OrderState) -> bool {
        let State { redis, ledger, .. } = state;
        if why == OrderState::SoldOut {
            let is_left = |unit: u8| redis.free(unit) > 0 && ledger.units[usize::from(unit)].is_none();
            !(0..self.scope.units).any(|unit| is_left(unit) && !(refusal.unit && unit == seat.unit))
        } else {
            let slots = &ledger.slots[self.user(seat.id)];
            let is_free = |slot: u8| slots[usize::from(slot)].is_none() && !self.slot_is_anothers(redis, seat.id, slot);
            !(0..self.scope.limit).any(|slot| is_free(slot) && !(refusal.slot && slot == seat.slot))
        }
    }
}
