use sale::audit::{LedgerView, LiveOrder};

use crate::prelude::*;

#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) reservation: Reservation,
    pub(super) state: OrderState,
    pub(super) failure: Option<Failure>,
    /// Whether it ever had its unit.
    pub(super) was_live: bool,
}

/// The ledger's answer to a new order.
pub(super) enum Placed {
    As(Order), // The order is written, now or earlier.
    UnitTaken,
    SlotTaken, // Another live order has the slot, but the unit is free.
}

/// The ledger, with one conditional write at a time. Guards protect a live order's unit and slot.
#[derive(Debug, Default)]
pub(super) struct Orders {
    by_id: BTreeMap<ReservationId, Order>,
    /// In the order of writing.
    ids: Vec<ReservationId>,
}

impl Orders {
    pub(super) fn get(&self, id: &ReservationId) -> Option<&Order> {
        self.by_id.get(id)
    }

    /// The order that was written `ago` orders before the last.
    pub(super) fn back(&self, ago: u8) -> Option<&Order> {
        self.get(self.ids.iter().rev().nth(usize::from(ago) % self.ids.len().max(1))?)
    }

    pub(super) fn place(&mut self, reservation: &Reservation) -> Placed {
        let Reservation { id, user, unit, slot, .. } = reservation;
        if let Some(order) = self.get(id) {
            return Placed::As(order.clone());
        }
        if self.owner_of(&id.round, *unit).is_some() {
            return Placed::UnitTaken;
        }
        let has_slot = |Order { reservation, .. }: &Order| reservation.user == *user && reservation.slot == *slot;
        if self.live(&id.round).any(has_slot) {
            return Placed::SlotTaken;
        }
        Placed::As(self.write(reservation, OrderState::Pending, None))
    }

    /// Keeps a reservation without an order from ever becoming one.
    pub(super) fn fence(&mut self, reservation: &Reservation, state: OrderState, failure: Option<Failure>) -> Order {
        self.get(&reservation.id).cloned().unwrap_or_else(|| self.write(reservation, state, failure))
    }

    /// Ends or pays an order that is still PENDING. Returns the order as it is then.
    pub(super) fn step(&mut self, id: &ReservationId, to: OrderState) -> Order {
        let order = self.by_id.get_mut(id).expect("a known order");
        if order.state == OrderState::Pending {
            order.state = to;
        }
        order.clone()
    }

    pub(super) fn owner_of(&self, round: &RoundId, unit: Unit) -> Option<&Order> {
        self.live(round).find(|order| order.reservation.unit == unit)
    }

    pub(super) fn live(&self, round: &RoundId) -> impl Iterator<Item = &Order> {
        let of_round = self.by_id.values().filter(move |order| order.reservation.id.round == *round);
        of_round.filter(|order| order.state.is_live())
    }

    pub(super) fn taken(&self, round: &RoundId) -> Vec<Reservation> {
        self.live(round).map(|order| order.reservation.clone()).collect()
    }

    pub(super) fn to_audit(&self, round: &RoundId) -> LedgerView {
        let guards = self.taken(round);
        LedgerView { live_orders: guards.iter().map(LiveOrder::from).collect(), guards }
    }

    fn write(&mut self, reservation: &Reservation, state: OrderState, failure: Option<Failure>) -> Order {
        let order = Order { reservation: reservation.clone(), state, failure, was_live: state.is_live() };
        self.by_id.insert(reservation.id.clone(), order.clone());
        self.ids.push(reservation.id.clone());
        order
    }
}
