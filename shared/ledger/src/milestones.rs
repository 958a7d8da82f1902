//! Milestones of rounds for the merchant's systems: that they opened, sold out, ended. Each is recorded so that it
//! appears in the table's stream exactly once.

use std::collections::HashMap;

use sale::{EpochMs, Milestones, Round, RoundId};
use serde::{Deserialize, Serialize};

use crate::calls::{Replacement, UNCHANGED};
use crate::item::{item_with, text};
use crate::{Ledger, LedgerError, keys};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedRound {
    #[serde(flatten)]
    pub id: RoundId,
    #[serde(flatten)]
    pub milestones: Milestones,
    pub title: String,
    pub opens_at_ms: EpochMs,
    pub closes_at_ms: EpochMs,
    pub total: u32,
    version: u32,
}

impl NotedRound {
    pub fn new(round: &Round) -> Self {
        Self {
            id: round.id.clone(),
            milestones: Milestones::default(),
            title: round.terms.title.clone(),
            opens_at_ms: round.terms.opens_at_ms,
            closes_at_ms: round.terms.closes_at_ms,
            total: round.terms.total,
            version: 0,
        }
    }
}

impl Ledger {
    /// The milestones of these rounds. Rounds without any are left out; `None` for those that this version cannot read.
    pub async fn noted_rounds(
        &self,
        rounds: impl IntoIterator<Item = &RoundId>,
    ) -> Result<HashMap<RoundId, Option<NotedRound>>, LedgerError> {
        self.of_rounds("milestones", rounds, keys::milestones).await
    }

    /// Records an observation of a round, if nothing was recorded since `read`. Returns whether it was.
    ///
    /// Guards against concurrent observations, whichever is older: one that was made before the other was recorded
    /// finds another version, and records nothing. So `read` must be read before the observation is made. If
    /// DynamoDB does not answer, the next observation shows whether this one was recorded.
    pub async fn note_milestones(
        &self,
        read: &NotedRound,
        round: &Round,
        found: Milestones,
    ) -> Result<bool, LedgerError> {
        let noted = NotedRound { milestones: found, version: read.version + 1, ..NotedRound::new(round) };
        let item = item_with(&noted, [("pk", text(keys::milestones(&round.id)))])?;
        self.replace(Replacement { item, condition: UNCHANGED, version: read.version }).await
    }
}
