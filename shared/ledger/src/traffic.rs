//! The traffic of rounds: how many requests each gets, as reconciliation last measured.

use std::collections::HashMap;

use sale::{Round, RoundId, Traffic};
use serde::{Deserialize, Serialize};

use crate::calls::{Replacement, UNCHANGED};
use crate::item::{item_with, number, text};
use crate::{Ledger, LedgerError, keys};

/// How long after a round's end its item is kept, in seconds.
const KEPT_AFTER_S: u32 = 24 * 60 * 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedTraffic {
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Whether the round was throttled because of it: that is done once, so operators can undo it.
    pub throttled: bool,
    /// Counts writes.
    version: u32,
}

impl Ledger {
    /// The traffic of these rounds, without those that have none, or one that this version cannot read.
    pub async fn traffic_of(
        &self,
        rounds: impl IntoIterator<Item = &RoundId>,
    ) -> Result<HashMap<RoundId, NotedTraffic>, LedgerError> {
        let noted = self.of_rounds("traffic", rounds, keys::traffic).await?;
        Ok(noted.into_iter().filter_map(|(id, noted)| Some((id, noted?))).collect())
    }

    /// Records a measurement, on the condition that nothing was recorded since `read`. Returns whether it was recorded.
    ///
    /// Guards against concurrent measurements: the later one is dropped, so no time is counted twice. If DynamoDB
    /// does not answer, the next measurement shows whether this one was recorded.
    pub async fn note_traffic(
        &self,
        round: &Round,
        read: Option<&NotedTraffic>,
        traffic: Traffic,
        throttled: bool,
    ) -> Result<bool, LedgerError> {
        let version = read.map_or(0, |read| read.version);
        let noted = NotedTraffic { traffic, throttled, version: version + 1 };
        let expires_at = number(round.terms.closes_at_ms.plus_s(KEPT_AFTER_S).as_epoch_s());
        let item = item_with(&noted, [("pk", text(keys::traffic(&round.id))), ("expires_at", expires_at)])?;
        self.replace(Replacement { item, condition: UNCHANGED, version }).await
    }
}
