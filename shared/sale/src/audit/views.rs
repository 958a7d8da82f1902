use std::ops::RangeInclusive;

use crate::{EpochMs, Reservation, ReservationId, StoredReservation, Unit};

#[derive(Debug, Clone, Default)]
pub struct StockView {
    /// Units that can be handed out, new or returned. Ranges may touch but not overlap.
    pub free: Vec<RangeInclusive<u32>>,
    /// Live and released reservations.
    pub reservations: Vec<StoredReservation>,
}

#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    pub guards: Vec<Reservation>,
    pub live_orders: Vec<LiveOrder>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOrder {
    pub id: ReservationId,
    pub unit: Unit,
    pub reserved_at_ms: EpochMs,
}

impl From<&Reservation> for LiveOrder {
    fn from(Reservation { id, unit, reserved_at_ms, .. }: &Reservation) -> Self {
        Self { id: id.clone(), unit: *unit, reserved_at_ms: *reserved_at_ms }
    }
}
