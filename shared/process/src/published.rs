use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ledger::{Ledger, LedgerError};
use runtime::Clock;
use sale::{Round, SaleId};
use tokio::sync::Mutex as AsyncMutex;

use crate::for_sale::ForSale;
use crate::snapshots::{period, read_on};

/// All published rounds, for a process that shows them all. It reads each of them once, and then what has changed.
pub struct Published {
    ledger: Ledger,
    clock: Clock,
    over_for_s: u32,
    timeout: Duration,
    for_sale: AsyncMutex<ForSale>,
}

impl Published {
    /// The published rounds of `ledger`, each until `over_for_s` after its end; all must be read within `timeout`.
    pub fn new(ledger: Ledger, clock: Clock, over_for_s: u32, timeout: Duration) -> Self {
        Self { ledger, clock, over_for_s, timeout, for_sale: AsyncMutex::new(ForSale::unknown(period())) }
    }

    /// The latest round of each published sale, as of now. May lag a moment behind. Fails if DynamoDB does not answer,
    /// or not with all rounds that were never read.
    pub async fn latest_rounds(&self) -> Result<HashMap<SaleId, Round>, LedgerError> {
        let mut for_sale = self.for_sale.lock().await;
        let lacking = |for_sale: &ForSale| for_sale.lacking().cloned().collect::<HashSet<_>>();
        *for_sale = read_on(&self.ledger, for_sale.clone(), lacking, self.clock, self.over_for_s, self.timeout).await?;
        match for_sale.lacking().next() {
            Some(sale) => Err(LedgerError::Contradiction(format!("the round of {sale} cannot be read"))),
            None => Ok(for_sale.sales().map(|sale| (sale.round.id.sale.clone(), sale.round.clone())).collect()),
        }
    }
}
