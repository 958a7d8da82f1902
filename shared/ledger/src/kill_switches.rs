use std::collections::BTreeSet;
use std::sync::Arc;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use sale::SaleId;
use serde::{Deserialize, Deserializer};

use crate::calls::{Conditional, Write};
use crate::item::from_item;
use crate::networks::BlockedNetwork;
use crate::{Ledger, LedgerError, keys};

/// What operators have stopped, whatever the terms say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct KillSwitches {
    #[serde(default)]
    pub stopped: bool,
    /// Sales that were stopped individually. Starting everything does not start them.
    #[serde(default)]
    pub stopped_sales: BTreeSet<SaleId>,
    #[serde(default)]
    networks_version: u32,
    /// Blocked networks, including those whose block has ended. Only [`Ledger::recent_kill_switches`] reads them.
    #[serde(default, deserialize_with = "readable")]
    pub blocked_networks: Arc<[BlockedNetwork]>,
}

/// An unreadable block must not affect the others.
fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[BlockedNetwork]>, D::Error> {
    let read = |text: String| {
        let network = text.parse().ok();
        if network.is_none() {
            tracing::error!(text, "skipped an unreadable blocked network");
        }
        network
    };
    Ok(Vec::<String>::deserialize(deserializer)?.into_iter().filter_map(read).collect())
}

impl KillSwitches {
    pub fn is_stopped(&self, sale: &SaleId) -> bool {
        self.stopped || self.stopped_sales.contains(sale)
    }
}

impl Ledger {
    pub async fn kill_switches(&self) -> Result<KillSwitches, LedgerError> {
        Ok(self.read(keys::KILL_SWITCHES).await?.unwrap_or_default())
    }

    /// What is stopped, and the blocked networks: those of `before` unless they have changed. May lag a moment behind,
    /// for half the price: every process reads it all the time.
    ///
    /// The networks and their version are written together, but two reads may see one half each. Then those of `before`
    /// hold until the next read, since their version is still another one.
    pub async fn recent_kill_switches(&self, before: Option<&KillSwitches>) -> Result<KillSwitches, LedgerError> {
        let read: KillSwitches = self.read_with(keys::KILL_SWITCHES, false).await?.unwrap_or_default();
        let mut networks = before.cloned().unwrap_or_default();
        for consistently in [false, true] {
            if networks.networks_version < read.networks_version {
                let again: KillSwitches =
                    self.read_with(keys::NETWORKS_FOR_GATE, consistently).await?.unwrap_or_default();
                networks = if again.networks_version < networks.networks_version { networks } else { again };
            }
        }
        let KillSwitches { networks_version, blocked_networks, .. } = networks;
        Ok(KillSwitches { networks_version, blocked_networks, ..read })
    }

    pub async fn stop(&self, sale: Option<&SaleId>) -> Result<KillSwitches, LedgerError> {
        self.set_kill_switch(sale, true).await
    }

    /// Undoes [`Self::stop`]. Starting everything does not start a sale that was stopped individually.
    pub async fn start(&self, sale: Option<&SaleId>) -> Result<KillSwitches, LedgerError> {
        self.set_kill_switch(sale, false).await
    }

    /// Without a condition: each change concerns one kill switch or one element of a set, so operators who stop
    /// different things concurrently do not undo each other, and a repeated request changes nothing.
    async fn set_kill_switch(&self, sale: Option<&SaleId>, stopped: bool) -> Result<KillSwitches, LedgerError> {
        let (expression, to) = match sale {
            None => ("SET stopped = :to", AttributeValue::Bool(stopped)),
            Some(sale) => {
                let of_sale = if stopped { "ADD stopped_sales :to" } else { "DELETE stopped_sales :to" };
                (of_sale, AttributeValue::Ss(vec![sale.to_string()]))
            }
        };
        let update = self.update(keys::KILL_SWITCHES, expression).values([(":to", to)]);
        from_item(update.return_values(ReturnValue::AllNew).must_write().await?)
    }
}
