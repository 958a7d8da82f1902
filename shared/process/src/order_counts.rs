//! How many units the ledger has, for operators to watch. Only the audit is proof.

use std::collections::HashMap;
use std::sync::Arc;

use ledger::{Ledger, LedgerError};
use runtime::Clock;
use sale::{EpochMs, OrderState, ReservationId, RoundId};

use crate::watched::Watched;

/// Rounds with more units are not read: the audit, every minute, has them.
const MAX_TOTAL: u32 = 10_000;

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
type Final = HashMap<ReservationId, OrderState>;

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
        let open: Vec<_> = guarded.into_iter().filter(|id| !known.contains_key(id)).collect();
        let mut unpaid = 0;
        for order in ledger.orders(&open).await? {
            match order.state {
                state @ (OrderState::Paid | OrderState::Granted) => drop(known.insert(order.reservation.id, state)),
                OrderState::Pending => unpaid += 1,
                // Its guard was deleted with it; the index lags.
                _ => {}
            }
        }
        let count = |state| known.values().filter(|known| **known == state).count() as u32;
        Ok(OrderCount { unpaid, granted: count(OrderState::Granted), paid: count(OrderState::Paid), as_of_ms })
    }
}
