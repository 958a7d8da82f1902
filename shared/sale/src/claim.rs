use serde::{Deserialize, Serialize};

use crate::{EpochMs, Lane, ReservationId, Slot, Unit, UserId};

/// One user's hold on one unit of one round: as Redis gave it, as the order queue carries it, and as its order and the
/// order's guards keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Names the reservation and its round, and the order that it becomes.
    pub id: ReservationId,
    /// Whose it is.
    pub user: UserId,
    /// The lane that its unit came from.
    pub lane: Lane,
    /// The unit.
    pub unit: Unit,
    /// Which of the user's purchases it is.
    pub slot: Slot,
    /// When Redis made it, by Redis's clock.
    pub reserved_at_ms: EpochMs,
}

/// How a claim stands in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimState {
    /// No order has confirmed it yet.
    Held,
    /// An order has its unit.
    Ordered,
    /// Its unit went back.
    Released,
}

impl ClaimState {
    /// Whether the claim has its unit.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Held | Self::Ordered)
    }
}

/// A claim as Redis keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The claim.
    pub claim: Claim,
    /// How it stands.
    pub state: ClaimState,
}
