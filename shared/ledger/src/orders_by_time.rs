use sale::{EpochMs, Order, ReservationId, RoundId};

use crate::by_time::{Direction, Places, Position, TimeIndex, TimeRange};
use crate::item::{number, text};
use crate::shards::count;
use crate::{Ledger, LedgerError, keys};

const BY_TIME: TimeIndex = TimeIndex { name: keys::ORDERS_BY_TIME, shard: "order_shard", time: "created_at_ms" };
/// How many pages of a partition are counted at most, of a megabyte each: more than a round of a million has.
const MOST_COUNTED_PAGES: usize = 50;
/// From this many orders in a partition on, all partitions are about the same size.
const MANY_IN_A_SHARD: u64 = 500;

#[derive(Debug, Clone)]
pub struct OrderIdsPage {
    pub ids: Vec<(EpochMs, ReservationId)>,
    pub more: bool,
}

impl Ledger {
    /// The first `limit` orders of a round made in `range` after `after`, in any state. May lag a moment behind.
    pub async fn order_ids(
        &self,
        round: &RoundId,
        range: TimeRange,
        direction: Direction,
        after: Option<&(EpochMs, ReservationId)>,
        limit: usize,
    ) -> Result<OrderIdsPage, LedgerError> {
        let after = after.map(|(at_ms, id)| Position { at_ms: *at_ms, pk: keys::order(id) });
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::order_shard_name(round, shard));
        let found = self.walk(&BY_TIME, shards, direction, range, after.as_ref(), limit).await?;
        page(found)
    }

    /// The first `limit` orders of a round that were made until `to` and come after `after`, one partition after the
    /// other, each with the oldest first: reads a whole round with the fewest queries. May lag a moment behind.
    pub async fn order_ids_in_turn(
        &self,
        round: &RoundId,
        to: EpochMs,
        after: Option<&(EpochMs, ReservationId)>,
        limit: usize,
    ) -> Result<OrderIdsPage, LedgerError> {
        let first = after.map_or(0, |(_, id)| keys::shard_of_order(id));
        let mut after = after.map(|(at_ms, id)| Position { at_ms: *at_ms, pk: keys::order(id) });
        let range = TimeRange { to, ..TimeRange::ALL };
        let mut places = Vec::with_capacity(limit);
        for shard in first..keys::ROUND_SHARDS {
            let name = std::iter::once(keys::order_shard_name(round, shard));
            // Only the first partition is begun in the middle.
            let (from, rest) = (after.take(), limit - places.len());
            let found = self.walk(&BY_TIME, name, Direction::OldestFirst, range, from.as_ref(), rest).await?;
            places.extend(found.places);
            if found.more {
                return page(Places { places, more: true });
            }
        }
        page(Places { places, more: false })
    }

    pub async fn orders_in_turn(&self, ids: &[(EpochMs, ReservationId)]) -> Result<Vec<Order>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(|(_, id)| keys::order(id)).collect();
        self.batch(&pks).await
    }

    /// Roughly how many orders a round had by `to`: sixteen times the first partition's, or exactly if they are few. May lag
    /// a moment behind.
    pub async fn count_orders_about(&self, round: &RoundId, to: EpochMs) -> Result<u64, LedgerError> {
        let mut sum = self.count_of_shard(round, 0, to).await?;
        if sum >= MANY_IN_A_SHARD {
            return Ok(sum * u64::from(keys::ROUND_SHARDS));
        }
        for shard in 1..keys::ROUND_SHARDS {
            sum += self.count_of_shard(round, shard, to).await?;
        }
        Ok(sum)
    }

    async fn count_of_shard(&self, round: &RoundId, shard: u32, to: EpochMs) -> Result<u64, LedgerError> {
        let values = [(":shard", text(keys::order_shard_name(round, shard))), (":to", number(to.0))];
        let query = self.query(keys::ORDERS_BY_TIME, "order_shard = :shard AND created_at_ms <= :to", values);
        count(query, MOST_COUNTED_PAGES).await
    }
}

fn page(found: Places) -> Result<OrderIdsPage, LedgerError> {
    let id = |Position { at_ms, pk }: Position| Ok((at_ms, keys::order_id(&pk)?));
    let ids = found.places.into_iter().map(id).collect::<Result<_, LedgerError>>()?;
    Ok(OrderIdsPage { ids, more: found.more })
}
