use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ledger::{Ledger, Switches};
use runtime::Clock;
use sale::{EpochMs, RoundId, Sale, SaleId};
use stock::Stock;

use crate::isolation::Isolation;
use crate::refreshed::{Moment, Refreshed};
use crate::{Answers, FulfilmentError, SaleLoad, SoldOutMark};

/// How long answers are gathered before Redis is told of them: a call a second of a process, however many it gives.
const ANSWERS_FOR: Duration = Duration::from_secs(1);
/// How long a sale that is over is told from one that never was, if Redis does not know either.
const OVER_FOR_S: u32 = 60 * 60;
/// How old the list of sales may be to say that a sale does not exist: it may have been published since. A flood of
/// made-up ids makes a process read the list this often, and no more.
const SAYS_NO_FOR: Duration = Duration::from_secs(1);

type Sales = HashMap<SaleId, Arc<LiveSale>>;

/// What this process knows of the ledger without asking it: the sales, and what is stopped. Each is read every few seconds
/// at most, whatever is asked here, and by itself: if one cannot be read, the other is still up to date.
#[derive(Clone)]
pub struct Board(Arc<Inner>);

struct Inner {
    clock: Clock,
    sales: Refreshed<Sales>,
    switches: Refreshed<Switches>,
    /// Whether a task is about to tell Redis of the answers.
    telling: AtomicBool,
}

/// What the ledger said a moment ago.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Published sales, until an hour after their end.
    pub sales: Arc<HashMap<SaleId, Arc<LiveSale>>>,
    /// What operators have stopped.
    pub switches: Arc<Switches>,
}

/// A sale, and what this process remembers of its round.
#[derive(Debug)]
pub struct LiveSale {
    /// As the ledger has it.
    pub sale: Sale,
    /// Whether it was sold out a moment ago.
    pub sold_out: Arc<SoldOutMark>,
    /// What it is asked for.
    pub load: Arc<SaleLoad>,
    /// What it is answered.
    pub answers: Arc<Answers>,
    /// What may be passed on to Redis while it is isolated.
    pub(crate) isolation: Arc<Isolation>,
}

impl Snapshot {
    /// The published sale of this id.
    pub fn sale(&self, id: &SaleId) -> Option<&Arc<LiveSale>> {
        self.sales.get(id)
    }

    /// The published sale of which this is the current round or an earlier one.
    pub fn sale_of(&self, round: &RoundId) -> Option<&Sale> {
        self.sales.get(&round.sale).map(|live| &live.sale).filter(|sale| round.number <= sale.round)
    }
}

impl Board {
    /// An empty board in front of `ledger`.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        let of_switches = ledger.clone();
        let sales = Refreshed::<Sales>::new("published sales", clock, move |before: Option<Arc<Sales>>| {
            let ledger = ledger.clone();
            Box::pin(async move {
                let since = EpochMs(clock.now().0 - i64::from(OVER_FOR_S) * 1000);
                let sales = ledger.published_sales(since).await?.into_iter();
                Ok(sales.map(|sale| (sale.id.clone(), Arc::new(live(sale, before.as_deref())))).collect())
            })
        });
        let switches = Refreshed::<Switches>::new("switches", clock, move |_| {
            let ledger = of_switches.clone();
            Box::pin(async move { Ok(ledger.recent_switches().await?) })
        });
        Self(Arc::new(Inner { clock, sales, switches, telling: AtomicBool::new(false) }))
    }

    /// What is known now: a few seconds old at most, as long as the ledger answers. If it does not, what was known last
    /// holds for some minutes.
    ///
    /// # Errors
    /// If DynamoDB does not answer, and nothing is known that still holds.
    pub async fn now(&self) -> Result<Snapshot, FulfilmentError> {
        let Inner { clock, sales, switches, .. } = &*self.0;
        let now = Moment::now(*clock);
        if let (Some(sales), Some(switches)) = (sales.at_hand(now), switches.at_hand(now)) {
            return Ok(Snapshot { sales, switches });
        }
        let (sales, switches) = Box::pin(async { tokio::try_join!(sales.get(), switches.get()) }).await?;
        Ok(Snapshot { sales, switches })
    }

    /// The published sales as they were a second ago or since: good enough to say that one does not exist.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn lately(&self) -> Result<Snapshot, FulfilmentError> {
        let Inner { sales, switches, .. } = &*self.0;
        let (sales, switches) = tokio::try_join!(sales.no_older_than(SAYS_NO_FOR), switches.get())?;
        Ok(Snapshot { sales, switches })
    }

    /// Reads the ledger now, whatever is known.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn refresh(&self) -> Result<Snapshot, FulfilmentError> {
        let Inner { sales, switches, .. } = &*self.0;
        let (sales, switches) = tokio::try_join!(sales.refresh(), switches.refresh())?;
        Ok(Snapshot { sales, switches })
    }

    /// Tells what the sales were asked for since the last time, as shares of what was planned: `SaleLoad`, whose sum over a
    /// minute is 1 for a sale that is asked for as much as planned. Sales without a plan are left out.
    pub fn report_load(&self) {
        let sales = self.0.sales.last();
        for LiveSale { sale, load, .. } in sales.iter().flat_map(|sales| sales.values()).map(Arc::as_ref) {
            if let (requests @ 1.., Some(share)) = (load.take(), sale.terms.door.share_of_a_minute()) {
                metrics::histogram!("SaleLoad", "Sale" => sale.id.to_string()).record(requests as f64 * share);
            }
        }
    }

    /// Counts what a request for a sale was answered with. Costs no call; a sale that the board does not have is not counted.
    pub fn count_answer(&self, sale: &str, code: &'static str) {
        if let (Some(sales), Ok(id)) = (self.0.sales.last(), sale.parse::<SaleId>())
            && let Some(live) = sales.get(&id)
        {
            live.answers.count(code);
        }
    }

    /// Has Redis told of the answers in a second, beside whatever else is done by then, unless that is under way. What a
    /// process has counted when it ends, or Redis does not take, is lost: the counts are there to be watched.
    pub fn tell_answers_soon(&self, stock: &Stock) {
        if self.0.telling.swap(true, Ordering::AcqRel) {
            return;
        }
        let (board, stock) = (self.clone(), stock.clone());
        tokio::spawn(async move {
            tokio::time::sleep(ANSWERS_FOR).await;
            board.0.telling.store(false, Ordering::Release);
            board.tell_answers(&stock).await;
        });
    }

    /// Tells Redis of the answers now.
    pub async fn tell_answers(&self, stock: &Stock) {
        let Some(sales) = self.0.sales.last() else { return };
        for LiveSale { sale, answers, .. } in sales.values().map(Arc::as_ref) {
            let counts = answers.take();
            if counts.is_empty() {
                continue;
            }
            if let Err(error) = stock.round(&sale.round_id()).tally(&counts).await {
                tracing::debug!(error = &error as &dyn std::error::Error, sale_id = %sale.id, "answers are not counted");
            }
        }
    }
}

/// What was remembered of a round stays with it.
fn live(sale: Sale, before: Option<&Sales>) -> LiveSale {
    let known = before.and_then(|before| before.get(&sale.id)).filter(|known| known.sale.round == sale.round);
    match known {
        Some(known) => {
            let LiveSale { sold_out, load, answers, isolation, .. } = known.as_ref();
            let (sold_out, load) = (Arc::clone(sold_out), Arc::clone(load));
            LiveSale { sale, sold_out, load, answers: Arc::clone(answers), isolation: Arc::clone(isolation) }
        }
        None => LiveSale {
            sale,
            sold_out: Arc::default(),
            load: Arc::default(),
            answers: Arc::default(),
            isolation: Arc::default(),
        },
    }
}
