use std::collections::BTreeMap;

use sale::audit::{Claim, LedgerView};
use sale::{Failure, HoldState, OrderState, Reservation, ReservationId, Round, Unit, UserId};
use stock::Hold;

/// An order as the ledger has it.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) reservation: Reservation,
    pub(super) state: OrderState,
    pub(super) failure: Option<Failure>,
    /// Whether it ever had its unit.
    pub(super) was_live: bool,
}

/// What the ledger says to a new order.
pub(super) enum Placed {
    /// It has the order, now or since before.
    As(Order),
    /// Another live order has the unit.
    UnitTaken,
    /// Another live order has the slot, and nobody has the unit.
    SlotTaken,
}

/// The ledger: one conditional write at a time. A unit and a slot are guarded while their order is live.
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

    /// The order that was written so many orders ago.
    pub(super) fn back(&self, ago: u8) -> Option<&Order> {
        let id = self.ids.iter().rev().nth(usize::from(ago) % self.ids.len().max(1))?;
        self.get(id)
    }

    pub(super) fn place(&mut self, reservation: &Reservation) -> Placed {
        let Reservation { id, user, unit, slot, .. } = reservation;
        if let Some(order) = self.get(id) {
            return Placed::As(order.clone());
        }
        if self.owner_of(id.round, *unit).is_some() {
            return Placed::UnitTaken;
        }
        let has_slot = |Order { reservation, .. }: &Order| reservation.user == *user && reservation.slot == *slot;
        if self.live(id.round).any(has_slot) {
            return Placed::SlotTaken;
        }
        Placed::As(self.write(reservation, OrderState::Pending, None))
    }

    /// Keeps a reservation that is no order yet from ever becoming one.
    pub(super) fn fence(&mut self, reservation: &Reservation, state: OrderState, failure: Option<Failure>) -> Order {
        match self.get(&reservation.id) {
            Some(order) => order.clone(),
            None => self.write(reservation, state, failure),
        }
    }

    /// Ends or pays an order that is still PENDING. The order as it is then.
    pub(super) fn step(&mut self, id: &ReservationId, to: OrderState) -> Order {
        let order = self.by_id.get_mut(id).expect("an order that was read before");
        if order.state == OrderState::Pending {
            order.state = to;
        }
        order.clone()
    }

    pub(super) fn owner_of(&self, round: Round, unit: Unit) -> Option<&Order> {
        self.live(round).find(|order| order.reservation.unit == unit)
    }

    pub(super) fn live(&self, round: Round) -> impl Iterator<Item = &Order> {
        let of_round = self.by_id.values().filter(move |order| order.reservation.id.round == round);
        of_round.filter(|order| order.state.is_live())
    }

    /// What a loading reads.
    pub(super) fn taken(&self, round: Round) -> Vec<(UserId, Hold)> {
        let hold = |Reservation { id, slot, unit, reserved_at_ms, .. }: &Reservation| Hold {
            uuid: id.uuid,
            slot: *slot,
            state: HoldState::Ordered,
            unit: *unit,
            reserved_at_ms: *reserved_at_ms,
        };
        self.live(round).map(|order| (order.reservation.user.clone(), hold(&order.reservation))).collect()
    }

    pub(super) fn to_audit(&self, round: Round) -> LedgerView {
        let claim = |Reservation { id, unit, reserved_at_ms, .. }: &Reservation| Claim {
            id: id.clone(),
            unit: *unit,
            since_ms: *reserved_at_ms,
            state: (),
        };
        let claims: Vec<_> = self.live(round).map(|order| claim(&order.reservation)).collect();
        LedgerView { guards: claims.clone(), live_orders: claims }
    }

    fn write(&mut self, reservation: &Reservation, state: OrderState, failure: Option<Failure>) -> Order {
        let order = Order { reservation: reservation.clone(), state, failure, was_live: state.is_live() };
        self.by_id.insert(reservation.id.clone(), order.clone());
        self.ids.push(reservation.id.clone());
        order
    }
}
