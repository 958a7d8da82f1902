use std::fmt;

use serde::{Deserialize, Serialize};

/// Most reservation ids in a scope.
pub const IDS: usize = 3;
/// Most units in a scope.
pub const UNITS: usize = 2;
/// Most users in a scope.
pub const USERS: usize = 3;
/// Most slots of a user in a scope.
pub const SLOTS: usize = 2;

/// A reservation's claim: which id has which unit in which of its user's slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seat {
    /// The reservation's id, and the order's.
    pub id: u8,
    /// The unit, counted from 0.
    pub unit: u8,
    /// The slot, counted from 0.
    pub slot: u8,
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{} unit {} slot {}", self.id, self.unit, self.slot)
    }
}

/// What Redis says of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldState {
    /// No order has confirmed it.
    Held,
    /// The ledger has its order.
    Ordered,
    /// It gave its unit back.
    Released,
}

/// A reservation in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hold {
    /// Its unit.
    pub unit: u8,
    /// Its slot.
    pub slot: u8,
    /// Where it stands.
    pub state: HoldState,
}

impl Hold {
    /// Whether it has its unit.
    pub fn is_live(self) -> bool {
        self.state != HoldState::Released
    }
}

/// Returned units: a set, of which the lowest is handed out first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Returned([bool; UNITS]);

impl Returned {
    /// Puts a unit in.
    pub fn put(&mut self, unit: u8) {
        self.0[usize::from(unit)] = true;
    }

    /// Takes a unit out.
    pub fn take(&mut self, unit: u8) {
        self.0[usize::from(unit)] = false;
    }

    /// The first unit that is in.
    pub fn first(&self) -> Option<u8> {
        (0..UNITS as u8).find(|unit| self.has(*unit))
    }

    /// Whether a unit is in.
    pub fn has(&self, unit: u8) -> bool {
        self.0[usize::from(unit)]
    }
}

impl fmt::Debug for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries((0..UNITS as u8).filter(|unit| self.has(*unit))).finish()
    }
}

/// The stock in Redis. The outbox is not a field: it is the held reservations, since whoever has none is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Redis {
    /// Whether the round's keys are there.
    pub loaded: bool,
    /// Next unit that was never handed out.
    pub next: u8,
    /// Units to hand out before the next one.
    pub returned: Returned,
    /// What is known of each reservation.
    pub holds: [Option<Hold>; IDS],
}

impl Redis {
    /// How often a unit can be handed out.
    pub fn free(&self, unit: u8) -> usize {
        if self.loaded { usize::from(self.returned.has(unit)) + usize::from(unit >= self.next) } else { 0 }
    }

    /// The live reservations that have a unit.
    pub fn holders(&self, unit: u8) -> impl Iterator<Item = u8> {
        self.live().filter(move |seat| seat.unit == unit).map(|seat| seat.id)
    }

    /// Whether a reservation has a unit and no order has confirmed it.
    pub fn is_held(&self, id: u8) -> bool {
        self.holds[usize::from(id)].is_some_and(|hold| hold.state == HoldState::Held)
    }

    /// The live reservations.
    pub fn live(&self) -> impl Iterator<Item = Seat> {
        self.holds.into_iter().zip(0..).filter_map(|(hold, id)| {
            let hold = hold.filter(|hold| hold.is_live())?;
            Some(Seat { id, unit: hold.unit, slot: hold.slot })
        })
    }
}

/// The state of an order in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    /// Waits for its payment.
    Pending,
    /// Paid. Final.
    Paid,
    /// Not paid in time. Final.
    Expired,
    /// Cancelled by the user. Final.
    Cancelled,
    /// FAILED at the limit. Final.
    Failed,
    /// FAILED because its unit was another order's and none was left. Final.
    SoldOut,
}

/// An order in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    /// Where it stands.
    pub state: OrderState,
    /// Its unit.
    pub unit: u8,
    /// Its slot.
    pub slot: u8,
}

impl Order {
    /// Whether it has its unit and slot.
    pub fn is_live(self) -> bool {
        matches!(self.state, OrderState::Pending | OrderState::Paid)
    }
}

/// What the ledger says is taken: the order and the slot behind each unit's guard.
pub type Guards = [Option<(u8, u8)>; UNITS];

/// The ledger. Loses nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    /// The orders.
    pub orders: [Option<Order>; IDS],
    /// The unit guards.
    pub units: Guards,
    /// The slot guards: the order behind each slot of each user.
    pub slots: [[Option<u8>; SLOTS]; USERS],
    /// Payments that could not be taken.
    pub refunds: [bool; IDS],
}

/// The state of Redis that a replica has, and the writes that it has missed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    /// What it has.
    pub redis: Redis,
    /// How many writes it has missed.
    pub behind: u8,
}

/// What is left of the scope's attempts and troubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    /// Requests for each reservation id.
    pub tries: [u8; IDS],
    /// Messages that come twice, or come back while they are being handled.
    pub duplicates: u8,
    /// Crashes, and deliveries that reach nobody.
    pub crashes: u8,
    /// Cancellations.
    pub cancels: u8,
    /// Payments.
    pub payments: u8,
    /// Failovers to a replica that is behind.
    pub failovers: u8,
    /// Losses of all keys.
    pub wipes: u8,
}

/// What only the properties read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ghost {
    /// Reservations that were answered with 202.
    pub accepted: [bool; IDS],
    /// Orders that the ledger has once called PAID.
    pub paid: [bool; IDS],
    /// Orders that somebody paid for.
    pub charged: [bool; IDS],
    /// Reservations that found a guard of another order in their way.
    pub refused: [bool; IDS],
    /// A rebuilt round offered a unit whose guard stood before the rebuild and after it.
    pub offered_taken: bool,
}

/// Everything: Redis, the ledger, what is under way, and what may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The stock.
    pub redis: Redis,
    /// A replica that Redis may fail over to.
    pub replica: Option<Replica>,
    /// The ledger.
    pub ledger: Ledger,
    /// Messages and functions under way, sorted, so that equal states are one.
    pub jobs: Vec<crate::Job>,
    /// What may still happen.
    pub left: Left,
    /// What only the properties read.
    pub ghost: Ghost,
}
