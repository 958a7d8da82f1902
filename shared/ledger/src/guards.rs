use futures::future::try_join_all;
use sale::{Claim, ReservationId, RoundId, Unit};

use crate::item::{GuardItem, text};
use crate::{Ledger, LedgerError, keys};

impl Ledger {
    /// The claims of a round whose units are guarded for their orders. May lag a moment behind.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn guards(&self, round: &RoundId) -> Result<Vec<Claim>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| self.guards_of_shard(round, shard));
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }

    /// The order that has a unit. Reads what was last written.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn owner_of(&self, round: &RoundId, unit: Unit) -> Result<Option<ReservationId>, LedgerError> {
        let output = self
            .client
            .get_item()
            .table_name(&self.table)
            .key("pk", text(keys::unit(round, unit)))
            .consistent_read(true)
            .send()
            .await
            .map_err(LedgerError::of("GetItem"))?;
        let guard: Option<GuardItem> = output.item.map(serde_dynamo::from_item).transpose()?;
        Ok(guard.map(|guard| guard.order_id))
    }

    async fn guards_of_shard(&self, round: &RoundId, shard: u32) -> Result<Vec<Claim>, LedgerError> {
        let mut guards = Vec::new();
        let mut start = None;
        loop {
            let output = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(keys::GUARDS_BY_ROUND)
                .key_condition_expression("round_shard = :shard")
                .expression_attribute_values(":shard", text(keys::round_shard(round, shard)))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(LedgerError::of("Query"))?;
            for item in output.items.unwrap_or_default() {
                guards.push(serde_dynamo::from_item::<_, GuardItem>(item)?.into());
            }
            start = output.last_evaluated_key;
            if start.is_none() {
                return Ok(guards);
            }
        }
    }
}
