use serde::{Deserialize, Serialize};

use crate::{EpochMs, Lane, ReservationId, Slot, Unit, UserId};

/// One user's hold on one unit of one round. Redis, the order queue, the order and its guards carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The id of the reservation and of the order that it becomes. It names the round.
    pub id: ReservationId,
    pub user: UserId,
    pub lane: Lane,
    pub unit: Unit,
    /// Which of the user's purchases it is.
    pub slot: Slot,
    /// When it was reserved, by Redis's clock.
    pub reserved_at_ms: EpochMs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationState {
    Held,
    Ordered,
    Released,
}

impl ReservationState {
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Held | Self::Ordered)
    }
}

/// A reservation as Redis keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReservation {
    pub reservation: Reservation,
    pub state: ReservationState,
}
