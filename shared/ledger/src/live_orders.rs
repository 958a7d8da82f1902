use sale::audit::LiveOrder;
use sale::{EpochMs, RoundId, Unit};
use serde::Deserialize;

use crate::item::from_item;
use crate::{Ledger, LedgerError, keys};

#[derive(Deserialize)]
struct LiveKeys {
    pk: String,
    unit: Unit,
    reserved_at_ms: EpochMs,
}

impl Ledger {
    /// A round's live orders, found independently of their guards. May lag a moment behind.
    pub async fn live_orders(&self, round: &RoundId) -> Result<Vec<LiveOrder>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::live_shard(round, shard));
        let read = |item| {
            let LiveKeys { pk, unit, reserved_at_ms } = from_item(item)?;
            Ok(LiveOrder { id: keys::order_id(&pk)?, unit, reserved_at_ms })
        };
        self.of_shards(keys::ORDERS_BY_ROUND, "live_shard", shards, read).await
    }
}
