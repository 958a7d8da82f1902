use serde::{Deserialize, Serialize};

use crate::{EpochMs, Lane, ReservationId, Slot, Unit, UserId};

/// A user's claim on a unit, as Redis gave it and as the order queue carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Names the reservation, its sale and its round.
    pub id: ReservationId,
    /// Whose it is.
    pub user: UserId,
    /// The lane that holds it.
    pub lane: Lane,
    /// The unit.
    pub unit: Unit,
    /// Which of the user's purchases it is.
    pub slot: Slot,
    /// When Redis made it, by Redis's clock.
    pub reserved_at_ms: EpochMs,
}

/// What Redis knows of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldState {
    /// No order has confirmed it yet.
    Held,
    /// An order has its unit.
    Ordered,
    /// Its unit went back.
    Released,
}

impl HoldState {
    /// Whether the reservation has its unit.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Held | Self::Ordered)
    }
}
