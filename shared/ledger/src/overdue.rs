use futures::future::try_join_all;
use sale::{EpochMs, ReservationId};

use crate::calls::Call;
use crate::item::{number, pk_of, text};
use crate::{Ledger, LedgerError, keys};

/// How many overdue orders are read from a shard at a time; the next run reads more.
const OVERDUE_PER_SHARD: i32 = 25;

impl Ledger {
    /// PENDING orders due before `moment`, some from each shard, the longest overdue first. May lag a moment behind.
    pub async fn overdue(&self, moment: EpochMs) -> Result<Vec<ReservationId>, LedgerError> {
        let shards = (0..keys::PENDING_SHARDS).map(|shard| self.overdue_of_shard(shard, moment));
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }

    async fn overdue_of_shard(&self, shard: u32, moment: EpochMs) -> Result<Vec<ReservationId>, LedgerError> {
        let values = [(":shard", text(keys::pending_shard_name(shard))), (":moment", number(moment.0))];
        let query = self.query(keys::PENDING_BY_PAY_BY, "pending_shard = :shard AND pay_by_ms < :moment", values);
        let output = query.limit(OVERDUE_PER_SHARD).answer().await?;
        let read = |item| keys::order_id(pk_of(&item).unwrap_or_default());
        output.items.unwrap_or_default().into_iter().map(read).collect()
    }
}
