use std::collections::HashMap;

use aws_sdk_dynamodb::types::Select;
use futures::future::try_join_all;
use sale::{EpochMs, Order, ReservationId, RoundId};

use crate::by_time::{Direction, Place, TimeIndex, TimeRange};
use crate::item::{Item, number, text};
use crate::{Ledger, LedgerError, keys};

const BY_TIME: TimeIndex = TimeIndex { name: keys::ORDERS_BY_TIME, shard: "order_shard", time: "created_at_ms" };
/// Pages of one partition that are counted at most, of a megabyte each: more than a round of a million has.
const MOST_COUNTED_PAGES: usize = 50;

/// Some orders of a round, by time.
#[derive(Debug, Clone)]
pub struct OrderIdsPage {
    /// When each was made, and its id.
    pub ids: Vec<(EpochMs, ReservationId)>,
    /// Whether there are more.
    pub more: bool,
}

impl Ledger {
    /// The first `limit` orders of a round that were made in `range` and come after `after`, whatever became of them. May lag a
    /// moment behind, and lacks what versions without the index wrote.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn order_ids(
        &self,
        round: &RoundId,
        range: TimeRange,
        direction: Direction,
        after: Option<&(EpochMs, ReservationId)>,
        limit: usize,
    ) -> Result<OrderIdsPage, LedgerError> {
        let after = after.map(|(at_ms, id)| Place { at_ms: *at_ms, pk: keys::order(id) });
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::order_shard_name(round, shard));
        let found = self.walk(&BY_TIME, shards, direction, range, after.as_ref(), limit).await?;
        let id = |Place { at_ms, pk }: Place| {
            let id = keys::order_id(&pk);
            Ok((at_ms, id.ok_or_else(|| LedgerError::Contradiction(format!("{pk} is not an order")))?))
        };
        let ids = found.places.into_iter().map(id).collect::<Result<_, LedgerError>>()?;
        Ok(OrderIdsPage { ids, more: found.more })
    }

    /// The orders of these ids in their order, as they were last written.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn orders_in_turn(&self, ids: &[(EpochMs, ReservationId)]) -> Result<Vec<Order>, LedgerError> {
        let wanted: Vec<ReservationId> = ids.iter().map(|(_, id)| id.clone()).collect();
        let found = self.orders(&wanted).await?;
        let mut found: HashMap<ReservationId, Order> =
            found.into_iter().map(|order| (order.claim.id.clone(), order)).collect();
        Ok(wanted.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// About how many orders of a round were made until `to`: exactly as many if there are some ten thousands at most, and else
    /// as many as if all partitions had as many as the first.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn count_orders_about(&self, round: &RoundId, to: EpochMs) -> Result<u64, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| self.count_of_shard(round, shard, to, None));
        let counts = try_join_all(shards).await?;
        let sum = counts.iter().map(|(count, _)| count).sum();
        if counts.iter().all(|(_, next)| next.is_none()) {
            return Ok(sum);
        }
        let Some((mut first, mut next)) = counts.into_iter().next() else { return Ok(sum) };
        for _ in 0..MOST_COUNTED_PAGES {
            let Some(start) = next else { break };
            let (count, rest) = self.count_of_shard(round, 0, to, Some(start)).await?;
            (first, next) = (first + count, rest);
        }
        Ok(sum.max(first * u64::from(keys::ROUND_SHARDS)))
    }

    /// The keys in one page of a partition, and where the next one begins.
    async fn count_of_shard(
        &self,
        round: &RoundId,
        shard: u32,
        to: EpochMs,
        start: Option<Item>,
    ) -> Result<(u64, Option<Item>), LedgerError> {
        let output = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(keys::ORDERS_BY_TIME)
            .key_condition_expression("order_shard = :shard AND created_at_ms <= :to")
            .expression_attribute_values(":shard", text(keys::order_shard_name(round, shard)))
            .expression_attribute_values(":to", number(to.0))
            .select(Select::Count)
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(LedgerError::of("Query"))?;
        Ok((u64::try_from(output.count).unwrap_or_default(), output.last_evaluated_key))
    }
}
