//! Counts for operators: how often each answer was given while a sale runs.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use sale::Lane;

use crate::script::TALLY;
use crate::{RoundStock, ScriptCode, StockError};

impl RoundStock<'_> {
    /// Adds to the counts of answers to requests for the round, if it is loaded. Fails if Redis does not answer; they
    /// may or may not have been added then. Repeating it may count twice.
    pub async fn tally(self, counts: &BTreeMap<&'static str, u64>) -> Result<(), StockError> {
        // Counts are summed over the lanes, so it does not matter which lane has them.
        let any = Lane::new(self.seen.any_lane(self.lanes), self.lanes);
        let keys = self.keys_in(any);
        let mut call = TALLY.keys([keys.sale(), keys.answers()]);
        for (code, count) in counts {
            call = call.arg(code).arg(count);
        }
        call.one_of(self.connection, &[ScriptCode::Tallied, ScriptCode::UnknownSale]).await.map(drop)
    }

    /// How often each answer was given since the round was loaded, as far as processes have reported it.
    pub async fn answers(self) -> Result<BTreeMap<String, u64>, StockError> {
        let of_lane = async |lane: Self| {
            self.connection.ask::<BTreeMap<String, u64>>(redis::cmd("HGETALL").arg(lane.keys().answers())).await
        };
        let mut answers = BTreeMap::new();
        for (code, count) in try_join_all(self.each_lane().map(of_lane)).await?.into_iter().flatten() {
            *answers.entry(code).or_default() += count;
        }
        Ok(answers)
    }
}
