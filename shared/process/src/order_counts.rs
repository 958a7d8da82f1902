//! How many units the ledger has, for operators to watch. Only the audit is proof.

use std::collections::HashSet;
use std::sync::Arc;

use ledger::{Ledger, LedgerError};
use runtime::Clock;
use sale::{EpochMs, OrderState, ReservationId, RoundId};

use crate::watched::Watched;

/// Rounds with more units are not read: the audit, every minute, has them.
const MAX_TOTAL: u32 = 10_000;

/// A round's orders at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderCount {
    /// Live orders that wait for payment.
    pub unpaid: u32,
    /// Live orders with nothing to pay.
    pub granted: u32,
    /// Live orders that are paid.
    pub paid: u32,
    pub as_of_ms: EpochMs,
}

/// Counts the orders of rounds. All operators who watch a round share one read, and paid orders are read only once.
#[derive(Clone)]
pub struct OrderCounts(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    clock: Clock,
    rounds: Watched<Final, OrderCount>,
}

/// Orders in a final state, which are not read again.
#[derive(Default)]
struct Final {
    paid: HashSet<ReservationId>,
    granted: HashSet<ReservationId>,
}

impl OrderCounts {
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        Self(Arc::new(Inner { ledger, clock, rounds: Watched::new(clock) }))
    }

    /// How many orders a round of `total` units has: some seconds old, or up to a minute if the ledger is slow. `None` if
    /// it has too many to be read in time, or the ledger has not answered yet.
    pub async fn of_round(&self, round: &RoundId, total: u32) -> Option<OrderCount> {
        if total > MAX_TOTAL {
            return None;
        }
        self.0.rounds.of_round(round, async |known| self.read(round, known).await).await
    }

    async fn read(&self, round: &RoundId, known: &mut Final) -> Result<OrderCount, LedgerError> {
        let Inner { ledger, clock, .. } = &*self.0;
        let as_of_ms = clock.now();
        let guarded: Vec<_> = ledger.guards(round).await?.into_iter().map(|reservation| reservation.id).collect();
        let open: Vec<_> = guarded.into_iter().filter(|id| !known.has(id)).collect();
        let mut unpaid = 0;
        for order in ledger.orders(&open).await? {
            match order.state {
                OrderState::Paid => drop(known.paid.insert(order.reservation.id)),
                OrderState::Granted => drop(known.granted.insert(order.reservation.id)),
                OrderState::Pending => unpaid += 1,
                // Its guard was deleted with it; the index lags.
                _ => {}
            }
        }
        let count = |known: &HashSet<_>| u32::try_from(known.len()).unwrap_or(u32::MAX);
        let (granted, paid) = (count(&known.granted), count(&known.paid));
        Ok(OrderCount { unpaid, granted, paid, as_of_ms })
    }
}

impl Final {
    fn has(&self, id: &ReservationId) -> bool {
        self.paid.contains(id) || self.granted.contains(id)
    }
}
