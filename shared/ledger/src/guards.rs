use futures::future::try_join_all;
use sale::{EpochMs, ReservationId, Round, SaleId, Slot, Unit, UserId};

use crate::item::{GuardItem, text};
use crate::{Ledger, LedgerError, keys};

/// A unit that an order has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The unit.
    pub unit: Unit,
    /// The order.
    pub order_id: ReservationId,
    /// Whose it is.
    pub user: UserId,
    /// Its slot.
    pub slot: Slot,
    /// When it was reserved.
    pub reserved_at_ms: EpochMs,
}

impl Ledger {
    /// Every unit of a round that an order has. May lag a moment behind.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn guards(&self, sale: &SaleId, round: Round) -> Result<Vec<Guard>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| self.guards_of_shard(sale, round, shard));
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }

    /// The order that has a unit. Reads what was last written.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn owner_of(
        &self,
        sale: &SaleId,
        round: Round,
        unit: Unit,
    ) -> Result<Option<ReservationId>, LedgerError> {
        let output = self
            .client
            .get_item()
            .table_name(&self.table)
            .key("pk", text(keys::unit(sale, round, unit)))
            .consistent_read(true)
            .send()
            .await
            .map_err(LedgerError::of("GetItem"))?;
        let guard: Option<GuardItem> = output.item.map(serde_dynamo::from_item).transpose()?;
        Ok(guard.map(|guard| guard.order_id))
    }

    async fn guards_of_shard(&self, sale: &SaleId, round: Round, shard: u32) -> Result<Vec<Guard>, LedgerError> {
        let mut guards = Vec::new();
        let mut start = None;
        loop {
            let output = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(keys::GUARDS_BY_ROUND)
                .key_condition_expression("round_shard = :shard")
                .expression_attribute_values(":shard", text(keys::round_shard(sale, round, shard)))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(LedgerError::of("Query"))?;
            for item in output.items.unwrap_or_default() {
                let GuardItem { unit, order_id, user, slot, reserved_at_ms, .. } = serde_dynamo::from_item(item)?;
                guards.push(Guard { unit, order_id, user, slot, reserved_at_ms });
            }
            start = output.last_evaluated_key;
            if start.is_none() {
                return Ok(guards);
            }
        }
    }
}
