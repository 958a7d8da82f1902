//! How much rounds are asked for: what reconciliation saw of it at its last look, to go on from there and to be shown.

use std::collections::HashMap;

use sale::{EpochMs, Heat, Round, RoundId};
use serde::{Deserialize, Serialize};

use crate::item::{Item, to_item};
use crate::replace::Replacement;
use crate::{Ledger, LedgerError, keys};

/// How long after a round's end its item goes, in seconds: nobody looks at it any more.
const KEPT_AFTER_S: u32 = 24 * 60 * 60;

/// How much a round is asked for, as it was last noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotedHeat {
    /// What the looks found.
    pub heat: Heat,
    /// Whether it was isolated for it: that is done once, so that operators may undo it.
    pub isolated: bool,
    /// Counts the writes.
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct HeatItem {
    pk: String,
    version: u32,
    asked: u64,
    at_ms: EpochMs,
    requests_per_s: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hot_since_ms: Option<EpochMs>,
    #[serde(default)]
    isolated: bool,
    expires_at: i64,
}

fn read_from(item: Item) -> Result<NotedHeat, LedgerError> {
    let HeatItem { asked, at_ms, requests_per_s, hot_since_ms, isolated, version, .. } = serde_dynamo::from_item(item)?;
    Ok(NotedHeat { heat: Heat { asked, at_ms, requests_per_s, hot_since_ms }, isolated, version })
}

impl Ledger {
    /// What was noted of these rounds, as it was last written. A round of which nothing was noted is left out, and so is what this
    /// version cannot read, which it does not write either.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn heats(
        &self,
        rounds: impl IntoIterator<Item = &RoundId>,
    ) -> Result<HashMap<RoundId, NotedHeat>, LedgerError> {
        let mut ids: HashMap<String, RoundId> = rounds.into_iter().map(|id| (keys::heat(id), id.clone())).collect();
        let pks: Vec<String> = ids.keys().cloned().collect();
        let mut heats = HashMap::with_capacity(pks.len());
        for item in self.batch_get(&pks).await? {
            let Some(id) = item.get("pk").and_then(|pk| ids.remove(pk.as_s().ok()?)) else { continue };
            match read_from(item) {
                Ok(noted) => drop(heats.insert(id, noted)),
                Err(error) => {
                    tracing::error!(sale_id = %id.sale, error = &error as &dyn std::error::Error, "a heat that cannot be read");
                }
            }
        }
        Ok(heats)
    }

    /// Notes what a look found, on the condition that nobody noted anything since `read` was. Whether that is so.
    ///
    /// Guards against two looks at once: the one that is late says nothing, so that no time is counted twice.
    ///
    /// # Errors
    /// If DynamoDB does not answer; then it may or may not be noted, and the next look tells.
    pub async fn note_heat(
        &self,
        round: &Round,
        read: Option<&NotedHeat>,
        heat: Heat,
        isolated: bool,
    ) -> Result<bool, LedgerError> {
        let version = read.map_or(0, |read| read.version);
        let item = to_item(HeatItem {
            pk: keys::heat(&round.id),
            version: version + 1,
            asked: heat.asked,
            at_ms: heat.at_ms,
            requests_per_s: heat.requests_per_s,
            hot_since_ms: heat.hot_since_ms,
            isolated,
            expires_at: round.terms.closes_at_ms.plus_s(KEPT_AFTER_S).as_epoch_s(),
        })?;
        let condition = "attribute_not_exists(pk) OR version = :version";
        self.replace(Replacement { item, condition, version }).await
    }
}
