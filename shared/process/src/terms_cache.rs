use std::sync::Arc;

use ledger::{Ledger, LedgerError};
use moka::sync::Cache;
use sale::{SaleId, SaleState, Terms};

/// Sales whose terms are remembered at once. Those that are forgotten are read again.
const MAX_SALES: u64 = 1000;

/// The terms of published sales, read from the ledger once by each process. They may be as old as the process, so use
/// them only for what never changes once a sale is published, such as its price.
#[derive(Clone)]
pub struct TermsCache {
    ledger: Ledger,
    known: Cache<SaleId, Arc<Terms>>,
}

impl TermsCache {
    /// An empty cache in front of `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self { ledger, known: Cache::new(MAX_SALES) }
    }

    /// The terms of a published sale. None if it does not exist or is a draft.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn get(&self, id: &SaleId) -> Result<Option<Arc<Terms>>, LedgerError> {
        if let Some(terms) = self.known.get(id) {
            return Ok(Some(terms));
        }
        let published = self.ledger.sale(id).await?.filter(|sale| sale.state == SaleState::Published);
        let terms = published.map(|sale| Arc::new(sale.terms));
        if let Some(terms) = &terms {
            self.known.insert(id.clone(), Arc::clone(terms));
        }
        Ok(terms)
    }
}
