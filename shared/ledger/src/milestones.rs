//! Milestones of rounds for the merchant's systems: that they opened, sold out, ended. Each is recorded so that it
//! appears in the table's stream exactly once.

use std::collections::HashMap;

use sale::{EpochMs, Milestones, Round, RoundId, RoundNumber, SaleId};
use serde::{Deserialize, Serialize};

use crate::calls::Replacement;
use crate::item::{Item, pk_of, to_item};
use crate::{Ledger, LedgerError, keys};

/// The recorded milestones of a round, and its terms at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedRound {
    pub id: RoundId,
    pub milestones: Milestones,
    pub title: String,
    pub opens_at_ms: EpochMs,
    pub closes_at_ms: EpochMs,
    pub total: u32,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct MilestonesItem {
    pk: String,
    sale: SaleId,
    round: RoundNumber,
    version: u32,
    title: String,
    opens_at_ms: EpochMs,
    closes_at_ms: EpochMs,
    total: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opened_at_ms: Option<EpochMs>,
    sold_out: bool,
    sold_out_times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sold_out_at_ms: Option<EpochMs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at_ms: Option<EpochMs>,
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

    pub(crate) fn from_item(item: Item) -> Result<Self, LedgerError> {
        let item: MilestonesItem = serde_dynamo::from_item(item)?;
        let milestones = Milestones {
            opened_at_ms: item.opened_at_ms,
            sold_out: item.sold_out,
            sold_out_times: item.sold_out_times,
            sold_out_at_ms: item.sold_out_at_ms,
            ended_at_ms: item.ended_at_ms,
        };
        let id = RoundId { sale: item.sale, number: item.round };
        let MilestonesItem { title, opens_at_ms, closes_at_ms, total, version, .. } = item;
        Ok(Self { id, milestones, title, opens_at_ms, closes_at_ms, total, version })
    }

    fn to_item(&self) -> Result<Item, LedgerError> {
        let Milestones { opened_at_ms, sold_out, sold_out_times, sold_out_at_ms, ended_at_ms } = self.milestones;
        to_item(MilestonesItem {
            pk: keys::milestones(&self.id),
            sale: self.id.sale.clone(),
            round: self.id.number,
            version: self.version,
            title: self.title.clone(),
            opens_at_ms: self.opens_at_ms,
            closes_at_ms: self.closes_at_ms,
            total: self.total,
            opened_at_ms,
            sold_out,
            sold_out_times,
            sold_out_at_ms,
            ended_at_ms,
        })
    }
}

impl Ledger {
    /// The milestones of these rounds. Rounds without any are left out; `None` for those that this version cannot read.
    pub async fn noted_rounds(
        &self,
        rounds: impl IntoIterator<Item = &RoundId>,
    ) -> Result<HashMap<RoundId, Option<NotedRound>>, LedgerError> {
        let mut ids: HashMap<String, RoundId> =
            rounds.into_iter().map(|id| (keys::milestones(id), id.clone())).collect();
        let pks: Vec<String> = ids.keys().cloned().collect();
        let mut noted = HashMap::with_capacity(pks.len());
        for item in self.batch_get(&pks).await? {
            let Some(id) = pk_of(&item).and_then(|pk| ids.remove(pk)) else { continue };
            let read = NotedRound::from_item(item);
            let read = read.inspect_err(|error| {
                tracing::error!(sale_id = %id.sale, error = error as &dyn std::error::Error, "the milestones of a round cannot be read");
            });
            noted.insert(id, read.ok());
        }
        Ok(noted)
    }

    /// Records an observation of a round, on the condition that nothing was recorded since `read`. Returns whether it
    /// was recorded.
    ///
    /// Guards against concurrent observations, whichever is older: one that was made before the other was recorded
    /// finds another version, and records nothing. So `read` must be read before the observation is made. Fails if
    /// DynamoDB does not answer; it may or may not be recorded then, and the next observation shows which.
    pub async fn note_milestones(
        &self,
        read: &NotedRound,
        round: &Round,
        found: Milestones,
    ) -> Result<bool, LedgerError> {
        let noted = NotedRound { milestones: found, version: read.version + 1, ..NotedRound::new(round) };
        let condition = "attribute_not_exists(pk) OR version = :version";
        self.replace(Replacement { item: noted.to_item()?, condition, version: read.version }).await
    }
}
