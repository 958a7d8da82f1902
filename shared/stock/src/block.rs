use std::collections::BTreeMap;

use futures::future::{join_all, try_join_all};
use sale::{EpochMs, Lane, UserId};

use crate::script::BLOCK;
use crate::script_code::unexpected;
use crate::{RoundStock, ScriptCode, StockError};

/// How many users a call changes at most: keeps the script to about a millisecond.
pub const MAX_NOTED: usize = 200;
/// How many blocks are read at a time.
const PAGE: usize = 1000;

impl RoundStock<'_> {
    /// Writes into users' records until when they are blocked, or removes that for users with `None`. Returns whether
    /// Redis has the round. Fails if Redis does not answer; some may have been written then.
    pub async fn note_blocks(self, blocks: &[(UserId, Option<EpochMs>)]) -> Result<bool, StockError> {
        if self.is_of_lanes() {
            // All lanes, even if one fails.
            let lanes = Lane::all(self.lanes).zip(self.each_lane()).map(|(lane, stock)| async move {
                let is_home = |(user, _): &&(UserId, Option<EpochMs>)| Lane::home_of(user, self.lanes) == lane;
                let own: Vec<_> = blocks.iter().filter(is_home).cloned().collect();
                Box::pin(stock.note_blocks(&own)).await
            });
            return join_all(lanes).await.into_iter().try_fold(true, |all, noted| Ok(all && noted?));
        }
        let keys = self.keys();
        for page in blocks.chunks(MAX_NOTED) {
            let mut call = BLOCK.keys([keys.sale(), keys.buyers(), keys.blocked()]);
            for (user, until) in page {
                call = call.arg(user.as_str()).arg(until.map_or(0, |until| until.0));
            }
            let codes = [ScriptCode::Noted, ScriptCode::UnknownSale];
            if call.one_of(self.connection, &codes).await? == ScriptCode::UnknownSale {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub async fn noted_blocks(self) -> Result<BTreeMap<UserId, EpochMs>, StockError> {
        if self.is_of_lanes() {
            let lanes = self.each_lane().map(|lane| Box::pin(lane.noted_blocks()));
            return Ok(try_join_all(lanes).await?.into_iter().flatten().collect());
        }
        let key = self.keys().blocked();
        let (mut noted, mut cursor) = (BTreeMap::new(), 0u64);
        loop {
            let (next, page): (u64, Vec<(String, i64)>) =
                self.connection.ask(redis::cmd("HSCAN").arg(&key).arg(cursor).arg("COUNT").arg(PAGE)).await?;
            for (user, until) in page {
                noted.insert(user.parse().map_err(|_| unexpected(&user))?, EpochMs(until));
            }
            cursor = next;
            if cursor == 0 {
                return Ok(noted);
            }
        }
    }
}
