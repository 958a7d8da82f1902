use std::fmt;

use serde::{Deserialize, Serialize};

pub const IDS: usize = 3;
pub const UNITS: usize = 2;
pub const USERS: usize = 3;
pub const SLOTS: usize = 2;

/// The unit of a reservation, and the one of its user's slots that it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seat {
    pub id: u8,   // The id of the reservation and of its order.
    pub unit: u8, // The unit, counted from 0.
    pub slot: u8, // The slot, counted from 0.
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{} unit {} slot {}", self.id, self.unit, self.slot)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReservationState {
    Held,     // Not confirmed by an order.
    Ordered,  // The ledger has its order.
    Released, // Its unit was given back.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reservation {
    pub unit: u8,
    pub slot: u8,
    pub state: ReservationState,
}

impl Reservation {
    pub fn is_live(self) -> bool {
        self.state != ReservationState::Released
    }
}

/// The stock in Redis. The outbox is the held reservations, since elements without a reservation are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Redis {
    pub loaded: bool,            // Whether the round's keys exist.
    pub next: u8,                // Next unit that was never handed out.
    pub returned: [bool; UNITS], // Units to hand out before `next`, the lowest first.
    pub reservations: [Option<Reservation>; IDS],
}

impl Redis {
    /// How often Redis could hand out this unit now.
    pub fn free(&self, unit: u8) -> usize {
        let is_returned = self.returned[usize::from(unit)];
        if self.loaded { usize::from(is_returned) + usize::from(unit >= self.next) } else { 0 }
    }

    /// The live reservations that have a unit.
    pub fn holders(&self, unit: u8) -> impl Iterator<Item = u8> {
        self.live().filter(move |seat| seat.unit == unit).map(|seat| seat.id)
    }

    /// Whether a reservation has a unit and no order has confirmed it.
    pub fn is_held(&self, id: u8) -> bool {
        self.reservations[usize::from(id)].is_some_and(|reservation| reservation.state == ReservationState::Held)
    }

    pub fn live(&self) -> impl Iterator<Item = Seat> {
        self.reservations.into_iter().zip(0..).filter_map(|(reservation, id)| {
            let reservation = reservation.filter(|reservation| reservation.is_live())?;
            Some(Seat { id, unit: reservation.unit, slot: reservation.slot })
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    Pending,
    Paid,
    Expired,
    Cancelled,
    Failed,  // FAILED at the limit. Final.
    SoldOut, // FAILED because another order has its unit and none was left. Final.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    pub state: OrderState,
    pub unit: u8,
    pub slot: u8,
}

impl Order {
    /// Whether it still has its unit and slot.
    pub fn is_live(self) -> bool {
        matches!(self.state, OrderState::Pending | OrderState::Paid)
    }
}

/// The unit guards in the ledger: the order and slot of each taken unit.
pub type Guards = [Option<(u8, u8)>; UNITS];

/// The ledger, which loses nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    pub orders: [Option<Order>; IDS],
    pub units: Guards,
    pub slots: [[Option<u8>; SLOTS]; USERS], // The slot guards: the order behind each slot of each user.
    pub refunds: [bool; IDS],                // Payments that could not be taken.
}
