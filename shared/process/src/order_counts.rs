//! How many units the ledger has, for operators to watch. Only the audit is proof.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cache::{Clock, RefreshError};
use ledger::{Ledger, LedgerError};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use sale::{EpochMs, OrderState, ReservationId, RoundId};
use tokio::sync::Mutex;

/// How long a result is served.
const FRESH: Duration = Duration::from_secs(3);
/// After a read the ledger is left alone for this many times its duration, so watching takes at most a tenth of the
/// time.
const REST: u32 = 9;
/// The time limit of a read, and of waiting for it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Rounds with more units are not read: the audit, every minute, has them.
const MAX_TOTAL: u32 = 10_000;
/// How many rounds are remembered: those watched last.
const MAX_ROUNDS: u64 = 16;

/// A round's orders at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderCount {
    /// Live orders that wait for payment.
    pub unpaid: u32,
    /// Live orders with nothing to pay.
    pub granted: u32,
    /// Live orders that are paid.
    pub paid: u32,
    /// When they were counted.
    pub as_of_ms: EpochMs,
}

/// Counts the orders of rounds. All operators who watch a round share one read, and paid orders are read only once.
#[derive(Clone)]
pub struct OrderCounts(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    clock: Clock,
    /// What is known about each round, locked while it is read.
    rounds: Cache<RoundId, Arc<Mutex<Known>>>,
}

#[derive(Default)]
struct Known {
    /// Paid and granted are final, so these orders are not read again.
    paid: HashSet<ReservationId>,
    granted: HashSet<ReservationId>,
    last: Option<OrderCount>,
    read_again: Option<Instant>,
}

impl OrderCounts {
    /// Counts orders in `ledger`. Reads nothing yet.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        let rounds = Cache::builder().max_capacity(MAX_ROUNDS).eviction_policy(EvictionPolicy::lru()).build();
        Self(Arc::new(Inner { ledger, clock, rounds }))
    }

    /// How many orders a round of `total` units has, some seconds old. `None` if it has too many to be read in time, or
    /// the ledger has not answered yet.
    pub async fn of_round(&self, round: &RoundId, total: u32) -> Option<OrderCount> {
        if total > MAX_TOTAL {
            return None;
        }
        let known = self.0.rounds.get_with_by_ref(round, Arc::default);
        let mut known = known.lock().await;
        if known.read_again.is_none_or(|at| Instant::now() >= at) {
            let start = Instant::now();
            let read = tokio::time::timeout(READ_TIMEOUT, self.read(round, &mut known)).await;
            known.read_again = Some(Instant::now() + FRESH.max(start.elapsed() * REST));
            if let Err(error) = read.map_or(Err(RefreshError::TimedOut), |read| read.map_err(RefreshError::Read)) {
                tracing::warn!(error = &error as &dyn std::error::Error, sale_id = %round.sale, "cannot count orders; using the last counts");
            }
        }
        known.last
    }

    async fn read(&self, round: &RoundId, known: &mut Known) -> Result<(), LedgerError> {
        let Inner { ledger, clock, .. } = &*self.0;
        let as_of_ms = clock.now();
        let guarded: Vec<_> = ledger.guards(round).await?.into_iter().map(|claim| claim.id).collect();
        let open: Vec<_> = guarded.into_iter().filter(|id| !known.is_final(id)).collect();
        let mut unpaid = 0;
        for order in ledger.orders(&open).await? {
            match order.state {
                OrderState::Paid => drop(known.paid.insert(order.claim.id)),
                OrderState::Granted => drop(known.granted.insert(order.claim.id)),
                OrderState::Pending => unpaid += 1,
                // Its guard was deleted with it; the index lags.
                _ => {}
            }
        }
        let count = |known: &HashSet<_>| u32::try_from(known.len()).unwrap_or(u32::MAX);
        let (granted, paid) = (count(&known.granted), count(&known.paid));
        known.last = Some(OrderCount { unpaid, granted, paid, as_of_ms });
        Ok(())
    }
}

impl Known {
    fn is_final(&self, id: &ReservationId) -> bool {
        self.paid.contains(id) || self.granted.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::{Client, Config};
    use sale::RoundNumber;

    use super::*;

    #[tokio::test]
    async fn the_number_of_rounds_is_bounded() {
        // Calls fail: it has no region.
        let ledger = Ledger::new(Client::from_conf(Config::builder().build()), "table");
        let counts = OrderCounts::new(ledger, Clock::system());
        let round = |number| RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) };
        for number in 1..=2 * MAX_ROUNDS as u32 {
            assert_eq!(counts.of_round(&round(number), 1).await, None);
        }
        counts.0.rounds.run_pending_tasks();
        assert_eq!(counts.0.rounds.entry_count(), MAX_ROUNDS);
        assert!(counts.0.rounds.contains_key(&round(2 * MAX_ROUNDS as u32)), "the last one is watched");
    }
}
