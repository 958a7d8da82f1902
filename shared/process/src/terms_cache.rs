use std::sync::Arc;

use ledger::{Ledger, LedgerError};
use moka::sync::Cache;
use sale::{Order, RoundId, SaleState, ShownAward, Terms};

/// Rounds whose terms are remembered at once. Those that are forgotten are read again.
const MAX_ROUNDS: u64 = 1000;

/// The terms of rounds, read from the ledger once by each process. They may be as old as the process, so use them only for
/// what never changes once a round has begun, such as its price.
#[derive(Clone)]
pub struct TermsCache {
    ledger: Ledger,
    known: Cache<RoundId, Arc<Terms>>,
}

impl TermsCache {
    /// An empty cache in front of `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self { ledger, known: Cache::new(MAX_ROUNDS) }
    }

    /// The terms of a round; the offer's if the ledger does not have the round, which an earlier version ended and did not
    /// keep. None if the sale does not exist or is a draft.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn get(&self, id: &RoundId) -> Result<Option<Arc<Terms>>, LedgerError> {
        if let Some(terms) = self.known.get(id) {
            return Ok(Some(terms));
        }
        let terms = match self.ledger.round(id).await? {
            Some(round) => Some(round.terms),
            None => {
                let offer = self.ledger.offer(&id.sale).await?;
                offer.filter(|offer| offer.state == SaleState::Published).map(|offer| offer.terms)
            }
        };
        let terms = terms.map(Arc::new);
        if let Some(terms) = &terms {
            self.known.insert(id.clone(), Arc::clone(terms));
        }
        Ok(terms)
    }

    /// What an order won, in words. The ledger is asked for the names of prizes alone.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn award_of(&self, order: &Order) -> Result<Option<ShownAward>, LedgerError> {
        // Boxed: a call of AWS makes a large future, and most orders have no prize.
        let of_round = &order.claim.id.round;
        let terms = if ShownAward::needs_terms(order) { Box::pin(self.get(of_round)).await? } else { None };
        Ok(ShownAward::of(order, terms.as_deref()))
    }
}
