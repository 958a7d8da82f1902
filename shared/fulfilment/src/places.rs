//! How many units the ledger has, for operators to watch. The audit is what proves.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ledger::Ledger;
use runtime::Clock;
use sale::{EpochMs, OrderState, ReservationId, RoundId};

use crate::FulfilmentError;

/// How long a reading is good for.
const FRESH: Duration = Duration::from_secs(3);
/// After a reading the ledger is left alone for so many times what it took: watching is a tenth of its work at most.
const REST: u32 = 9;
/// Longest reading, and the longest that one waits for it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Rounds with more units are not read: a minute's audit has them.
const MAX_TOTAL: u32 = 10_000;
/// Rounds that are remembered. A process of which more are watched begins anew.
const MAX_ROUNDS: usize = 16;

/// Orders of a round at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered {
    /// Live orders that are not paid.
    pub unpaid: u32,
    /// Live orders that are.
    pub paid: u32,
    /// The moment.
    pub as_of_ms: EpochMs,
}

/// What a process remembers of the orders of rounds, so that the ledger is asked for all who watch together, and not for
/// what it has said for good.
#[derive(Clone)]
pub struct Places(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    clock: Clock,
    rounds: Mutex<HashMap<RoundId, Shared>>,
}

/// What is known of a round; whoever reads it anew holds it.
type Shared = Arc<tokio::sync::Mutex<Known>>;

#[derive(Default)]
struct Known {
    /// Paid is final: who is in here is not looked up again.
    paid: HashSet<ReservationId>,
    last: Option<Ordered>,
    read_again: Option<Instant>,
}

impl Places {
    /// Nothing is known yet of what `ledger` has.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        Self(Arc::new(Inner { ledger, clock, rounds: Mutex::default() }))
    }

    /// The orders of a round of `total` units, as of some seconds ago. None if it has too many to be read while one waits,
    /// or the ledger has not answered yet.
    pub async fn ordered(&self, round: &RoundId, total: u32) -> Option<Ordered> {
        if total > MAX_TOTAL {
            return None;
        }
        let of_round = self.of(round);
        let mut known = of_round.lock().await;
        if known.read_again.is_none_or(|at| Instant::now() >= at) {
            let start = Instant::now();
            let read = tokio::time::timeout(READ_TIMEOUT, self.read(round, &mut known)).await;
            known.read_again = Some(Instant::now() + FRESH.max(start.elapsed() * REST));
            if let Err(error) = read.unwrap_or(Err(FulfilmentError::OutOfTime)) {
                tracing::warn!(error = &error as &dyn std::error::Error, sale_id = %round.sale, "what was read last holds");
            }
        }
        known.last
    }

    fn of(&self, round: &RoundId) -> Arc<tokio::sync::Mutex<Known>> {
        let mut rounds = self.0.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if rounds.len() >= MAX_ROUNDS && !rounds.contains_key(round) {
            rounds.clear();
        }
        Arc::clone(rounds.entry(round.clone()).or_default())
    }

    async fn read(&self, round: &RoundId, known: &mut Known) -> Result<(), FulfilmentError> {
        let Inner { ledger, clock, .. } = &*self.0;
        let as_of_ms = clock.now();
        let guarded: Vec<_> = ledger.guards(round).await?.into_iter().map(|claim| claim.id).collect();
        let open: Vec<_> = guarded.into_iter().filter(|id| !known.paid.contains(id)).collect();
        let mut unpaid = 0;
        for order in ledger.orders(&open).await? {
            match order.state {
                OrderState::Paid => drop(known.paid.insert(order.claim.id)),
                OrderState::Pending => unpaid += 1,
                // Its guard goes with it; the index lags.
                _ => {}
            }
        }
        let paid = u32::try_from(known.paid.len()).unwrap_or(u32::MAX);
        known.last = Some(Ordered { unpaid, paid, as_of_ms });
        Ok(())
    }
}
