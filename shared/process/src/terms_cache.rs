use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;

use ledger::{Ledger, LedgerError};
use moka::sync::Cache;
use runtime::Clock;
use sale::{Campaign, CampaignLimit, Order, RoundId, SaleId, ShownAward, Terms};

use crate::kept_each::KeptEach;

/// How many rounds' terms are cached. Others are read again.
const MAX_ROUNDS: u64 = 1000;
/// How long a process caches the state of a draw.
const DRAWN_FOR: Duration = Duration::from_secs(1);
/// How long a process caches the campaigns: within this time orders may be placed by an old limit.
const CAMPAIGNS_FOR: Duration = Duration::from_secs(3);

/// The terms of rounds, read from the ledger once by each process. They may be as old as the process, so use them only
/// for what never changes once a round has begun, such as its price.
#[derive(Clone)]
pub struct TermsCache {
    ledger: Ledger,
    terms: Cache<RoundId, Arc<Terms>>,
    /// Whether all winners of a round are drawn.
    drawn: KeptEach<RoundId, bool>,
    /// The campaigns with a limit, read by whoever places the next order.
    limited: KeptEach<(), Arc<Vec<Campaign>>>,
}

/// What is needed to show the awards of a round's orders.
#[derive(Debug, Clone)]
pub struct RoundAwards {
    terms: Option<Arc<Terms>>,
    is_drawn: bool,
}

impl RoundAwards {
    /// What an order of the round won, for display. The order must have been read after this.
    pub fn of(&self, order: &Order) -> Option<ShownAward> {
        ShownAward::of(order, self.terms.as_deref(), self.is_drawn)
    }
}

impl TermsCache {
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        let drawn = KeptEach::new(MAX_ROUNDS, DRAWN_FOR, clock);
        Self { ledger, terms: Cache::new(MAX_ROUNDS), drawn, limited: KeptEach::new(1, CAMPAIGNS_FOR, clock) }
    }

    /// The terms of a round. `None` if it has not begun.
    pub fn get<'a>(&'a self, id: &'a RoundId) -> BoxFuture<'a, Result<Option<Arc<Terms>>, LedgerError>> {
        Box::pin(async move {
            if let Some(terms) = self.terms.get(id) {
                return Ok(Some(terms));
            }
            let terms = self.ledger.round(id).await?.map(|round| Arc::new(round.terms));
            if let Some(terms) = &terms {
                self.terms.insert(id.clone(), Arc::clone(terms));
            }
            Ok(terms)
        })
    }

    /// The limits of the campaigns that a sale is in, at most some seconds old. They are never guessed: an order waits
    /// until they are known. Fails if DynamoDB must be read and does not answer.
    pub fn campaign_limits<'a>(&'a self, sale: &'a SaleId) -> BoxFuture<'a, Result<Vec<CampaignLimit>, LedgerError>> {
        Box::pin(async move {
            let read = async {
                let mut read = self.ledger.campaigns().await?;
                read.retain(|campaign| campaign.limit_per_user.is_some());
                Ok::<_, LedgerError>(Arc::new(read))
            };
            let limited = self.limited.get_or_read(&(), read).await?;
            Ok(limited.iter().filter_map(|campaign| campaign.limit_of(sale)).collect())
        })
    }

    /// What an order won, for display. May read the names of prizes and the state of the draw from the ledger.
    pub fn award_of<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Option<ShownAward>, LedgerError>> {
        Box::pin(async move {
            let of_round = &order.reservation.id.round;
            let terms = if ShownAward::needs_terms(order) { self.get(of_round).await? } else { None };
            let needs_draw = terms.as_ref().is_some_and(|terms| ShownAward::needs_draw(order, terms));
            if !(needs_draw && self.is_drawn(of_round).await?) {
                return Ok(ShownAward::of(order, terms.as_deref(), false));
            }
            // It may have been read before its prize was given, or by an index that lags.
            let since = self.ledger.order(&order.reservation.id).await?;
            Ok(ShownAward::of(since.as_ref().unwrap_or(order), terms.as_deref(), true))
        })
    }

    /// What is needed to show the awards of many orders of a round that are read consistently after this. An order
    /// without an award in a completed draw has then won nothing, and need not be read again.
    pub fn awards_of_round<'a>(&'a self, id: &'a RoundId) -> BoxFuture<'a, Result<RoundAwards, LedgerError>> {
        Box::pin(async move {
            let terms = self.get(id).await?;
            let at_end = terms.as_ref().is_some_and(|terms| terms.allocation.is_drawn_at_end());
            Ok(RoundAwards { terms, is_drawn: at_end && self.is_drawn(id).await? })
        })
    }

    /// Whether all winners of a round are drawn, at most a second old.
    async fn is_drawn(&self, id: &RoundId) -> Result<bool, LedgerError> {
        let read = async { Ok(self.ledger.draw(id).await?.is_some_and(|draw| draw.drawn_at_ms.is_some())) };
        self.drawn.get_or_read(id, read).await
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::{Client, Config};
    use sale::{DoorTerms, RoundNumber};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_number_of_rounds_is_bounded_and_what_is_known_costs_no_call() {
        // It cannot be asked: it has no region.
        let cache =
            TermsCache::new(Ledger::new(Client::from_conf(Config::builder().build()), "table"), Clock::system());
        let terms = json!({
            "title": "A lamp", "opens_at_ms": 1, "closes_at_ms": 2, "total": 1, "per_user_limit": 1, "price_minor": 990,
            "currency": "EUR", "payment_window_s": 900, "door": DoorTerms::default(),
        });
        let terms: Arc<Terms> = Arc::new(serde_json::from_value(terms).unwrap());
        let round = |number| RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) };
        cache.terms.insert(round(1), Arc::clone(&terms));
        assert_eq!(cache.get(&round(1)).await.unwrap(), Some(Arc::clone(&terms)));
        assert!(cache.get(&round(2)).await.is_err());
        for number in 1..=2 * MAX_ROUNDS as u32 {
            cache.terms.insert(round(number), Arc::clone(&terms));
        }
        cache.terms.run_pending_tasks();
        assert!(cache.terms.entry_count() <= MAX_ROUNDS);
    }
}
