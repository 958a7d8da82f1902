use std::ops::RangeInclusive;

use crate::{Claim, Entry, EpochMs, ReservationId, Unit};

#[derive(Debug, Clone, Default)]
pub struct StockView {
    /// Units that can be handed out, new or returned. Ranges may touch but not overlap.
    pub free: Vec<RangeInclusive<u32>>,
    /// Live and released claims.
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    pub guards: Vec<Claim>,
    pub live_orders: Vec<LiveOrder>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOrder {
    pub id: ReservationId,
    pub unit: Unit,
    pub reserved_at_ms: EpochMs,
}

impl From<&Claim> for LiveOrder {
    fn from(Claim { id, unit, reserved_at_ms, .. }: &Claim) -> Self {
        Self { id: id.clone(), unit: *unit, reserved_at_ms: *reserved_at_ms }
    }
}
