use std::sync::Arc;
use std::time::{Duration, Instant};

use ledger::Ledger;
use runtime::Clock;
use sale::{EpochMs, ReservationId, Sale};
use tokio::sync::Mutex;

use crate::FulfilmentError;

/// How long the list is good for. The ledger is asked once in that time by each process, whatever is asked of the list:
/// a flood of made-up ids does not reach it.
const FRESH: Duration = Duration::from_secs(5);

/// How long a sale that is over is told from one that never was, if Redis does not know either.
const OVER_FOR_S: u32 = 60 * 60;

/// The sales that can be bought from, now, soon or until a moment ago, by the ledger: tells a sale that never was from
/// one that Redis lost.
#[derive(Clone)]
pub struct LiveSales {
    ledger: Ledger,
    clock: Clock,
    // Held while the ledger is asked, so that one asks for all.
    known: Arc<Mutex<Option<Known>>>,
}

struct Known {
    since: Instant,
    sales: Arc<[Sale]>,
}

impl LiveSales {
    /// An empty list in front of `ledger`.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        Self { ledger, clock, known: Arc::default() }
    }

    /// The published sale of which a reservation's id names the current round or an earlier one.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn of(&self, id: &ReservationId) -> Result<Option<Sale>, FulfilmentError> {
        let mut known = self.known.lock().await;
        let sales = match known.as_ref() {
            Some(Known { since, sales }) if since.elapsed() < FRESH => Arc::clone(sales),
            _ => {
                let since = EpochMs(self.clock.now().0 - i64::from(OVER_FOR_S) * 1000);
                let sales: Arc<[Sale]> = self.ledger.published_sales(since).await?.into();
                *known = Some(Known { since: Instant::now(), sales: Arc::clone(&sales) });
                sales
            }
        };
        drop(known);
        Ok(sales.iter().find(|sale| sale.id == id.sale && id.round <= sale.round).cloned())
    }
}
