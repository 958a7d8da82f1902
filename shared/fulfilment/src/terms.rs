use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ledger::Ledger;
use sale::{SaleId, SaleState, Terms};

use crate::FulfilmentError;

/// Sales remembered at once. A process that meets more forgets them all and reads them again.
const MAX_SALES: usize = 1000;

/// The terms of published sales, read from the ledger once by each process: they never change.
#[derive(Clone)]
pub struct TermsCache {
    ledger: Ledger,
    known: Arc<Mutex<HashMap<SaleId, Arc<Terms>>>>,
}

impl TermsCache {
    /// An empty cache in front of `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self { ledger, known: Arc::default() }
    }

    /// The terms of a published sale.
    ///
    /// # Errors
    /// [`FulfilmentError::UnknownSale`] if it does not exist or is a draft; or if DynamoDB does not answer.
    pub async fn get(&self, id: &SaleId) -> Result<Arc<Terms>, FulfilmentError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terms) = known().get(id) {
            return Ok(Arc::clone(terms));
        }
        let published = self.ledger.sale(id).await?.filter(|sale| sale.state == SaleState::Published);
        let terms = Arc::new(published.ok_or_else(|| FulfilmentError::UnknownSale(id.clone()))?.terms);
        let mut known = known();
        if known.len() >= MAX_SALES {
            known.clear();
        }
        known.insert(id.clone(), Arc::clone(&terms));
        Ok(terms)
    }
}
