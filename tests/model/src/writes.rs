//! The ledger's conditional writes: each is one step, all or nothing.

use crate::job::Refusal;
use crate::stored::{Ledger, Order, OrderState, Seat};
use crate::{Mistake, Protocol};

impl Protocol {
    /// Returns the state of the order, written now or before, unless guards are another's.
    pub(crate) fn place(&self, ledger: &mut Ledger, seat: Seat) -> Result<OrderState, Refusal> {
        let Seat { id, unit, slot } = seat;
        if let Some(order) = ledger.orders[usize::from(id)] {
            return Ok(order.state);
        }
        let unit_guard = &mut ledger.units[usize::from(unit)];
        let slot_guard = &mut ledger.slots[self.user(id)][usize::from(slot)];
        let refusal = Refusal {
            unit: unit_guard.is_some() && !self.makes(Mistake::NoUnitGuard),
            slot: slot_guard.is_some() && !self.makes(Mistake::NoSlotGuard),
        };
        if refusal.unit || refusal.slot {
            return Err(refusal);
        }
        *unit_guard = Some((id, slot));
        *slot_guard = Some(id);
        ledger.orders[usize::from(id)] = Some(Order { state: OrderState::Pending, unit, slot });
        Ok(OrderState::Pending)
    }

    /// Fences an order. Returns its state afterwards, whichever job wrote it.
    pub(crate) fn fence(&self, ledger: &mut Ledger, seat: Seat, as_state: OrderState) -> OrderState {
        let order = &mut ledger.orders[usize::from(seat.id)];
        if order.is_none() || self.makes(Mistake::FenceOverOrder) {
            *order = Some(Order { state: as_state, unit: seat.unit, slot: seat.slot });
        }
        order.map_or(as_state, |order| order.state)
    }

    /// Ends a PENDING order and deletes its guards. Returns its state afterwards, if there is such an order.
    pub(crate) fn end(&self, ledger: &mut Ledger, id: u8, to: OrderState) -> Option<OrderState> {
        let order = ledger.orders[usize::from(id)].as_mut()?;
        let unasked = match to {
            OrderState::Expired => self.makes(Mistake::ExpireUnasked),
            _ => self.makes(Mistake::CancelUnasked),
        };
        if order.state != OrderState::Pending && !unasked {
            return Some(order.state);
        }
        order.state = to;
        if !(to == OrderState::Expired && self.makes(Mistake::ExpireLeavesGuards)) {
            let Order { unit, slot, .. } = *order;
            ledger.units[usize::from(unit)].take_if(|guard| guard.0 == id);
            ledger.slots[self.user(id)][usize::from(slot)].take_if(|guard| *guard == id);
        }
        Some(to)
    }

    /// Takes a payment, or notes it for refund. Returns whether the order is PAID now.
    pub(crate) fn pay(&self, ledger: &mut Ledger, id: u8) -> bool {
        let Some(order) = &mut ledger.orders[usize::from(id)] else { return false };
        if order.state == OrderState::Pending || self.makes(Mistake::PayUnasked) {
            order.state = OrderState::Paid;
            return true;
        }
        ledger.refunds[usize::from(id)] |= !self.makes(Mistake::LatePaymentIgnored);
        false
    }
}
