//! Beacons: the public randomness that draws wait for, posted by operators once drand has published it.

use sale::award::drand::{self, DrandRound, Signature};
use sale::award::{Bytes32, Hex};
use sale::{Allocation, EpochMs, RoundId, UserId};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::calls::{Write, Written};
use crate::item::{Item, from_item, item_of, number, text};
use crate::{Ledger, LedgerError, keys};

/// The beacon of a round. Its signature was verified before it was posted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Beacon {
    pub drand_round: DrandRound,
    #[serde(deserialize_with = "signature")]
    pub signature: Signature,
    pub by: UserId,
    pub at_ms: EpochMs,
}

fn signature<'de, D: Deserializer<'de>>(from: D) -> Result<Signature, D::Error> {
    drand::signature(&String::deserialize(from)?).ok_or_else(|| D::Error::custom("a signature has 96 hex digits"))
}

impl Beacon {
    /// Drand's randomness, which draws are shuffled with.
    pub fn randomness(&self) -> Bytes32 {
        drand::randomness(&self.signature)
    }

    fn to_item(&self, id: &RoundId) -> Item {
        item_of([
            ("pk", text(keys::beacon(id))),
            ("drand_round", number(self.drand_round)),
            ("signature", text(Hex(&self.signature).to_string())),
            ("by", text(self.by.as_str())),
            ("at_ms", number(self.at_ms.0)),
        ])
    }
}

impl Ledger {
    pub async fn beacon(&self, id: &RoundId) -> Result<Option<Beacon>, LedgerError> {
        self.read(keys::beacon(id)).await
    }

    /// The randomness that, together with the seed, decides what the units of a round win. `None` without a beacon.
    /// Fails if the beacon has not been posted.
    pub async fn randomness(&self, id: &RoundId, allocation: &Allocation) -> Result<Option<Bytes32>, LedgerError> {
        if !allocation.has_beacon() {
            return Ok(None);
        }
        let beacon = self.beacon(id).await?.ok_or_else(|| LedgerError::NoBeacon(id.to_string()))?;
        Ok(Some(beacon.randomness()))
    }

    /// Stores the beacon of a round, unless it has one. Returns the stored one: the first stays.
    ///
    /// Guards against concurrent operators and repeated requests. Fails if the round has another beacon, which is
    /// impossible: drand has only one signature for a round.
    pub async fn post_beacon(&self, id: &RoundId, beacon: &Beacon) -> Result<Beacon, LedgerError> {
        let kept: Beacon = match self.put_unless_there(beacon.to_item(id)).write().await? {
            Written::Done(_) => return Ok(beacon.clone()),
            Written::Refused(kept) => from_item(kept)?,
        };
        if (kept.drand_round, kept.signature) == (beacon.drand_round, beacon.signature) {
            return Ok(kept);
        }
        Err(LedgerError::Contradiction(format!("round {id} has another beacon")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::to_item;

    #[test]
    fn stored_beacons_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "BEACON#tickets#2", "drand_round": 34_235_811, "signature": "07".repeat(48), "by": "olga", "at_ms": 5,
        });
        let id = RoundId { sale: "tickets".parse().unwrap(), number: sale::RoundNumber(2) };
        let beacon: Beacon = from_item(to_item(&stored).unwrap()).unwrap();
        assert_eq!((beacon.drand_round, beacon.signature), (DrandRound(34_235_811), [7; 48]));
        assert_eq!(beacon.to_item(&id), to_item(&stored).unwrap());
        let mut wrong = stored;
        wrong["signature"] = "07".into();
        assert!(from_item::<Beacon>(to_item(&wrong).unwrap()).is_err());
    }
}
