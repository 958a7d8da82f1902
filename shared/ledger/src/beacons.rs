//! Beacons: the public randomness that draws wait for, posted by operators once drand has published it.

use sale::award::drand::{self, DrandRound, Signature};
use sale::award::{Bytes32, Hex};
use sale::{Allocation, EpochMs, RoundId, UserId};
use serde::{Deserialize, Serialize};

use crate::calls::{Write, Written};
use crate::item::{Item, to_item};
use crate::{Ledger, LedgerError, keys};

/// The beacon of a round. Its signature was verified before it was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beacon {
    pub drand_round: DrandRound,
    pub signature: Signature,
    pub by: UserId,
    pub at_ms: EpochMs,
}

#[derive(Serialize, Deserialize)]
struct BeaconItem {
    pk: String,
    drand_round: u64,
    signature: String,
    by: UserId,
    at_ms: EpochMs,
}

impl Beacon {
    /// Drand's randomness, which draws are shuffled with.
    pub fn randomness(&self) -> Bytes32 {
        drand::randomness(&self.signature)
    }

    fn to_item(&self, id: &RoundId) -> Result<Item, LedgerError> {
        let Self { drand_round: DrandRound(drand_round), signature, by, at_ms } = self;
        let (pk, signature) = (keys::beacon(id), Hex(signature).to_string());
        to_item(BeaconItem { pk, drand_round: *drand_round, signature, by: by.clone(), at_ms: *at_ms })
    }

    fn from_item(id: &RoundId, item: Item) -> Result<Self, LedgerError> {
        let BeaconItem { drand_round, signature, by, at_ms, .. } = serde_dynamo::from_item(item)?;
        let unreadable = || LedgerError::Contradiction(format!("the beacon of round {id} cannot be read"));
        let signature = drand::signature(&signature).ok_or_else(unreadable)?;
        Ok(Self { drand_round: DrandRound(drand_round), signature, by, at_ms })
    }
}

impl Ledger {
    pub async fn beacon(&self, id: &RoundId) -> Result<Option<Beacon>, LedgerError> {
        self.item(keys::beacon(id)).await?.map(|item| Beacon::from_item(id, item)).transpose()
    }

    /// The randomness that, together with the seed, decides what the units of a round win. `None` without a beacon.
    /// Fails if DynamoDB does not answer, or the beacon has not been posted.
    pub async fn randomness(&self, id: &RoundId, allocation: &Allocation) -> Result<Option<Bytes32>, LedgerError> {
        if !allocation.has_beacon() {
            return Ok(None);
        }
        let beacon = self.beacon(id).await?.ok_or_else(|| LedgerError::NoBeacon(id.to_string()))?;
        Ok(Some(beacon.randomness()))
    }

    /// Stores the beacon of a round, unless it has one. Returns the stored one: the first stays.
    ///
    /// Guards against concurrent operators and repeated requests. Fails if DynamoDB does not answer, or the round has
    /// another beacon, which is impossible: drand has only one signature for a round.
    pub async fn post_beacon(&self, id: &RoundId, beacon: &Beacon) -> Result<Beacon, LedgerError> {
        let kept = match self.put_unless_there(beacon.to_item(id)?).write().await? {
            Written::Done(_) => return Ok(beacon.clone()),
            Written::Refused(kept) => Beacon::from_item(id, kept)?,
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

    #[test]
    fn stored_beacons_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "BEACON#tickets#2", "drand_round": 34_235_811, "signature": "07".repeat(48), "by": "olga", "at_ms": 5,
        });
        let id = RoundId { sale: "tickets".parse().unwrap(), number: sale::RoundNumber(2) };
        let beacon = Beacon::from_item(&id, to_item(&stored).unwrap()).unwrap();
        assert_eq!((beacon.drand_round, beacon.signature), (DrandRound(34_235_811), [7; 48]));
        assert_eq!(beacon.to_item(&id).unwrap(), to_item(&stored).unwrap());
        let mut wrong = stored;
        wrong["signature"] = "07".into();
        assert!(Beacon::from_item(&id, to_item(&wrong).unwrap()).is_err());
    }
}
