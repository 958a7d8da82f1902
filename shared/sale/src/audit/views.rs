use std::ops::RangeInclusive;

use crate::{Claim, Entry, EpochMs, ReservationId, Unit};

/// What Redis says about a round.
#[derive(Debug, Clone, Default)]
pub struct StockView {
    /// Units that can be handed out, new or returned. Ranges may touch but not overlap.
    pub free: Vec<RangeInclusive<u32>>,
    /// Live and released claims.
    pub entries: Vec<Entry>,
}

/// What the ledger says about a round.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    /// Claims with a guard for their unit.
    pub guards: Vec<Claim>,
    /// Orders that have a unit.
    pub live_orders: Vec<LiveOrder>,
}

/// A live order, with the fields in the ledger's index of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOrder {
    /// The order.
    pub id: ReservationId,
    /// Its unit.
    pub unit: Unit,
    /// When it was reserved.
    pub reserved_at_ms: EpochMs,
}

impl From<&Claim> for LiveOrder {
    /// The order of a claim.
    fn from(Claim { id, unit, reserved_at_ms, .. }: &Claim) -> Self {
        Self { id: id.clone(), unit: *unit, reserved_at_ms: *reserved_at_ms }
    }
}
