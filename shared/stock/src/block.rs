use std::collections::BTreeMap;

use futures::future::{join_all, try_join_all};
use sale::{EpochMs, UserId};

use crate::script::BLOCK;
use crate::script_code::unexpected;
use crate::{RoundStock, ScriptCode, StockError};

/// How many users a call changes at most: keeps the script to about a millisecond.
pub const MAX_NOTED: usize = 200;

impl RoundStock<'_> {
    /// Writes into users' records until when they are blocked, or removes that for users with `None`. Returns whether
    /// Redis has the round. Fails if Redis does not answer; some may have been written then.
    pub async fn note_blocks(self, blocks: &[(UserId, Option<EpochMs>)]) -> Result<bool, StockError> {
        // All lanes, even if one fails.
        let lanes = join_all(self.each_lane().map(|lane| lane.note_blocks_of_lane(blocks))).await;
        lanes.into_iter().try_fold(true, |all, noted| Ok(all && noted?))
    }

    async fn note_blocks_of_lane(self, blocks: &[(UserId, Option<EpochMs>)]) -> Result<bool, StockError> {
        let keys = self.keys();
        let own: Vec<_> = blocks.iter().filter(|(user, _)| self.is_home_of(user)).collect();
        for page in own.chunks(MAX_NOTED) {
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
        let noted = async |lane: Self| self.connection.fields::<i64>(&lane.keys().blocked()).await;
        let noted = try_join_all(self.each_lane().map(noted)).await?.into_iter().flatten();
        noted.map(|(user, until)| Ok((user.parse().map_err(|_| unexpected(&user))?, EpochMs(until)))).collect()
    }
}
