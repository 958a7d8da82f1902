use futures::future::try_join_all;
use sale::audit::LiveOrder;
use sale::{EpochMs, RoundId, Unit};
use serde::Deserialize;

use crate::item::text;
use crate::{Ledger, LedgerError, keys};

#[derive(Deserialize)]
struct LiveKeys {
    pk: String,
    unit: Unit,
    reserved_at_ms: EpochMs,
}

impl Ledger {
    /// A round's live orders, found by themselves and not by their guards. May lag a moment behind, lacks what versions
    /// without the index wrote, and may have what they ended.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn live_orders(&self, round: &RoundId) -> Result<Vec<LiveOrder>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| self.live_orders_of_shard(round, shard));
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }

    async fn live_orders_of_shard(&self, round: &RoundId, shard: u32) -> Result<Vec<LiveOrder>, LedgerError> {
        let mut orders = Vec::new();
        let mut start = None;
        loop {
            let output = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(keys::ORDERS_BY_ROUND)
                .key_condition_expression("live_shard = :shard")
                .expression_attribute_values(":shard", text(keys::live_shard(round, shard)))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(LedgerError::of("Query"))?;
            for item in output.items.unwrap_or_default() {
                let LiveKeys { pk, unit, reserved_at_ms } = serde_dynamo::from_item(item)?;
                let id = keys::order_id(&pk);
                let id = id.ok_or_else(|| LedgerError::Contradiction(format!("{pk} is not an order")))?;
                orders.push(LiveOrder { id, unit, reserved_at_ms });
            }
            start = output.last_evaluated_key;
            if start.is_none() {
                return Ok(orders);
            }
        }
    }
}
