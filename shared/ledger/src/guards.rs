use sale::{EpochMs, Order, Reservation, ReservationId, RoundId, Unit};

use crate::item::{GUARD_LIFE_S, GuardItem, from_item};
use crate::{Ledger, LedgerError, keys};

/// Whether an order may have outlived its guards, which have a time to live.
pub fn has_outlived_its_guards(order: &Order, now: EpochMs) -> bool {
    now >= order.created_at_ms.plus_s(GUARD_LIFE_S)
}

impl Ledger {
    /// The reservations of a round whose units have guards. May lag a moment behind.
    pub async fn guards(&self, round: &RoundId) -> Result<Vec<Reservation>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::round_shard(round, shard));
        let read = |item| Ok(from_item::<GuardItem>(item)?.into());
        self.of_shards(keys::GUARDS_BY_ROUND, "round_shard", shards, read).await
    }

    pub async fn guards_of(&self, round: &RoundId, units: &[Unit]) -> Result<Vec<Reservation>, LedgerError> {
        let pks: Vec<String> = units.iter().map(|unit| keys::unit(round, *unit)).collect();
        Ok(self.batch::<GuardItem>(&pks).await?.into_iter().map(Into::into).collect())
    }

    pub async fn owner_of(&self, round: &RoundId, unit: Unit) -> Result<Option<ReservationId>, LedgerError> {
        Ok(self.read::<GuardItem>(keys::unit(round, unit)).await?.map(|guard| guard.order_id))
    }
}
