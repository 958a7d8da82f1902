use std::net::IpAddr;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use sale::{EpochMs, Network, UserId};
use serde::{Deserialize, Serialize};

use crate::calls::{Conditional, Part, Replacement, UNCHANGED};
use crate::item::{item_of, number, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// How many networks and addresses can be blocked at once. Every process reads all of them within two seconds after a
/// change: at most 8 KB, so their partition serves 6,000 processes. Comparing a request takes 1 µs.
pub const MAX_BLOCKED_NETWORKS: usize = 200;
/// How often a change is retried after somebody else's.
const TRIES: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockedNetwork {
    pub network: Network,
    pub until_ms: EpochMs,
}

impl BlockedNetwork {
    pub fn blocks(&self, address: &IpAddr, now: EpochMs) -> bool {
        now < self.until_ms && self.network.contains(address)
    }
}

/// The form in the gate's list: `NETWORK UNTIL_MS`.
impl FromStr for BlockedNetwork {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (network, until_ms) = text.split_once(' ').ok_or(())?;
        let until_ms = EpochMs(until_ms.parse().map_err(|_| ())?);
        Ok(Self { network: network.parse().map_err(|_| ())?, until_ms })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkBlock {
    pub network: Network,
    pub until_ms: EpochMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub by: UserId,
    pub at_ms: EpochMs,
}

#[derive(Default, Serialize, Deserialize)]
struct NetworksItem {
    pk: String,
    version: u32,
    networks: Vec<NetworkBlock>,
}

impl Ledger {
    pub async fn blocked_networks(&self, now: EpochMs) -> Result<Vec<NetworkBlock>, LedgerError> {
        let mut networks = self.networks_item().await?.networks;
        networks.retain(|block| now < block.until_ms);
        Ok(networks)
    }

    /// Blocks a network, or returns `false` if there are already as many as possible. The last write about one holds.
    pub async fn block_network(&self, block: &NetworkBlock, now: EpochMs) -> Result<bool, LedgerError> {
        self.change_networks(now, |networks| {
            networks.retain(|other| other.network != block.network);
            networks.push(block.clone());
        })
        .await
    }

    /// Allows a network again. A blocked network that contains it stays blocked.
    pub async fn allow_network(&self, network: Network, now: EpochMs) -> Result<(), LedgerError> {
        if self.change_networks(now, |networks| networks.retain(|other| other.network != network)).await? {
            return Ok(());
        }
        Err(LedgerError::Contradiction("more networks are blocked than can be".to_owned()))
    }

    async fn networks_item(&self) -> Result<NetworksItem, LedgerError> {
        Ok(self.read(keys::BLOCKED_NETWORKS).await?.unwrap_or_default())
    }

    /// Writes the list for operators and the one for the gate, with its version in the kill switches, all or none, on
    /// the condition that the list has not changed since it was read. Ended blocks are removed.
    ///
    /// Guards against concurrent operators, of whom the later would undo the other's change, and against a run that
    /// dies between the two lists, which would show a block that is not in force, or hide one that is.
    async fn change_networks(
        &self,
        now: EpochMs,
        change: impl Fn(&mut Vec<NetworkBlock>),
    ) -> Result<bool, LedgerError> {
        for _ in 0..TRIES {
            let NetworksItem { version, mut networks, .. } = self.networks_item().await?;
            networks.retain(|block| now < block.until_ms);
            change(&mut networks);
            if networks.len() > MAX_BLOCKED_NETWORKS {
                return Ok(false);
            }
            let item = NetworksItem { pk: keys::BLOCKED_NETWORKS.to_owned(), version: version + 1, networks };
            let replacement = Replacement { item: to_item(&item)?, condition: UNCHANGED, version };
            let for_gate = item.networks.iter().map(|block| text(format!("{} {}", block.network, block.until_ms.0)));
            let for_gate = [
                ("pk", text(keys::NETWORKS_FOR_GATE)),
                ("networks_version", number(item.version)),
                ("blocked_networks", AttributeValue::L(for_gate.collect())),
            ];
            let update = self.updating(keys::KILL_SWITCHES, "SET networks_version = :version");
            let update = update.values([(":version", number(item.version))]);
            let writes = vec![self.replacing(replacement), self.putting(item_of(for_gate)).part(), update.part()];
            if self.transact(writes).await?.is_none() {
                return Ok(true);
            }
        }
        Err(LedgerError::Contended("others change the blocked networks all the time".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_reads_what_is_written_for_it() {
        let blocked: BlockedNetwork = "192.0.2.0/24 1000".parse().unwrap();
        let address = "192.0.2.9".parse().unwrap();
        assert!(blocked.blocks(&address, EpochMs(999)));
        assert!(!blocked.blocks(&address, EpochMs(1000)));
        assert!(!blocked.blocks(&"192.0.3.9".parse().unwrap(), EpochMs(999)));
        for other in ["", "192.0.2.0/24", "192.0.2.0/24 ", "192.0.2.0/24 soon", "0.0.0.0/0 1000", "alice 1000"] {
            assert!(other.parse::<BlockedNetwork>().is_err(), "{other:?}");
        }
    }
}
