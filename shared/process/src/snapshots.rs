use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cache::{Bounds, Clock, Moment, RefreshError, Refreshed};
use ledger::{Ledger, LedgerError, Switches};
use sale::{EpochMs, Round, RoundId, SaleId, latest_rounds};
use stock::Stock;

use crate::cached_sale::CachedSale;
use crate::soon::Soon;

/// The bounds of the sales and of the switches. Every process acts on a stop within `usable`. A stop that nobody can
/// read has no effect, so the last value must not be used for ever. A read, a call to Redis and one to SQS fit into a
/// request's time.
const BOUNDS: Bounds = Bounds {
    fresh: Duration::from_secs(2),
    usable: Duration::from_secs(5),
    held: Duration::from_secs(5 * 60),
    read_timeout: Duration::from_millis(2500),
    wait: Duration::from_millis(2500),
    retry_after: Duration::from_secs(1),
    first_retry_after: Duration::from_secs(1),
}
.checked();
/// How long answers are counted before they are flushed to Redis: one flush a second per process, however many there
/// are.
const ANSWERS_FOR: Duration = Duration::from_secs(1);
/// How long a finished sale stays in the snapshot, which distinguishes it from one that never existed, in seconds.
const OVER_FOR_S: u32 = 60 * 60;
/// How old the sales may be for the answer that a sale does not exist, since it may have been published meanwhile. A
/// flood of made-up ids makes a process read them this often, and no more.
const SAYS_NO_FOR: Duration = Duration::from_secs(1);

/// Why there is no snapshot.
type Unread = RefreshError<LedgerError>;
type Sales = HashMap<SaleId, Arc<CachedSale>>;

/// This process's copy of the published sales and of the stops. Each is read separately, at most every few seconds
/// however many callers there are: if one cannot be read, the other is still up to date.
#[derive(Clone)]
pub struct Snapshots(Arc<Inner>);

struct Inner {
    clock: Clock,
    sales: Refreshed<Sales, LedgerError>,
    switches: Refreshed<Switches, LedgerError>,
    /// The next flush of the answer counts.
    flush: Soon,
}

/// The published sales and the stops, as the ledger had them a moment ago.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Published sales, until an hour after their end.
    pub sales: Arc<HashMap<SaleId, Arc<CachedSale>>>,
    /// What operators have stopped.
    pub switches: Arc<Switches>,
}

impl Snapshot {
    /// The published sale with this id.
    pub fn sale(&self, id: &SaleId) -> Option<&Arc<CachedSale>> {
        self.sales.get(id)
    }

    /// The latest round of `of`'s sale, if that is `of` or a later one.
    pub fn latest_round(&self, of: &RoundId) -> Option<&Round> {
        self.sales.get(&of.sale).map(|cached| &cached.round).filter(|latest| of.number <= latest.id.number)
    }
}

impl Snapshots {
    /// Snapshots of `ledger`. Reads nothing yet.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        let of_switches = ledger.clone();
        let sales = Refreshed::new(
            "cannot read the published sales; using the last ones",
            BOUNDS,
            clock,
            move |before: Option<Arc<Sales>>| {
                let ledger = ledger.clone();
                Box::pin(async move {
                    let since = EpochMs(clock.now().0 - i64::from(OVER_FOR_S) * 1000);
                    let cached = |(sale, round): (SaleId, Round)| {
                        let before = before.as_ref().and_then(|before| before.get(&sale));
                        (sale, Arc::new(CachedSale::new(round, before.map(Arc::as_ref))))
                    };
                    Ok(latest_rounds(ledger.published_rounds(since).await?).into_iter().map(cached).collect())
                })
            },
        );
        let switches = Refreshed::new("cannot read the switches; using the last ones", BOUNDS, clock, move |_| {
            let ledger = of_switches.clone();
            Box::pin(async move { ledger.recent_switches().await })
        });
        Self(Arc::new(Inner { clock, sales, switches, flush: Soon::default() }))
    }

    /// The current snapshot: at most a few seconds old while the ledger answers. If it does not, the last one is used
    /// for some minutes.
    ///
    /// # Errors
    /// If DynamoDB does not answer, and there is no recent enough snapshot.
    pub async fn now(&self) -> Result<Snapshot, Unread> {
        let Inner { clock, sales, switches, .. } = &*self.0;
        let now = Moment::now(*clock);
        if let (Some(sales), Some(switches)) = (sales.at_hand(now), switches.at_hand(now)) {
            return Ok(Snapshot { sales, switches });
        }
        let (sales, switches) = Box::pin(async { tokio::try_join!(sales.get(), switches.get()) }).await?;
        Ok(Snapshot { sales, switches })
    }

    /// A snapshot with sales at most a second old: new enough to answer that one does not exist.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn lately(&self) -> Result<Snapshot, Unread> {
        let Inner { sales, switches, .. } = &*self.0;
        let (sales, switches) = tokio::try_join!(sales.no_older_than(SAYS_NO_FOR), switches.get())?;
        Ok(Snapshot { sales, switches })
    }

    /// Reads the ledger now, however new the snapshot is.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn refresh(&self) -> Result<Snapshot, Unread> {
        let Inner { sales, switches, .. } = &*self.0;
        let (sales, switches) = tokio::try_join!(sales.refresh(), switches.refresh())?;
        Ok(Snapshot { sales, switches })
    }

    /// Reports the demand for each sale since the last report as `SaleLoad`, a fraction of the expected demand: the sum
    /// over a minute is 1 if demand is as planned, or the default for a sale without a plan.
    pub fn report_demand(&self) {
        let sales = self.0.sales.last();
        for CachedSale { round, demand, .. } in sales.iter().flat_map(|sales| sales.values()).map(Arc::as_ref) {
            if let requests @ 1.. = demand.take() {
                let share = round.terms.door.share_of_a_minute(round.terms.lanes);
                metrics::histogram!("SaleLoad", "Sale" => round.id.sale.to_string()).record(requests as f64 * share);
            }
        }
    }

    /// The number of lanes of a published sale's rounds, if this process has read it. Makes no call.
    pub fn lanes_of(&self, sale: &SaleId) -> Option<u16> {
        self.0.sales.last()?.get(sale).map(|cached| cached.round.terms.lanes)
    }

    /// Counts an answer to a request for a sale, without a call. Answers about unknown sales are not counted.
    pub fn count_answer(&self, sale: &str, code: &'static str) {
        if let Some(cached) = self.0.sales.last().as_ref().and_then(|sales| sales.get(sale)) {
            cached.answers.count(code);
        }
    }

    /// Flushes the answer counts to Redis in a second, in a separate task, unless a flush is already planned. Counts
    /// are lost if the process ends first or Redis does not take them; they are only for display.
    pub fn flush_answers_soon(&self, stock: &Stock) {
        self.0.flush.ask(ANSWERS_FOR, || {
            let (snapshots, stock) = (self.clone(), stock.clone());
            async move { snapshots.flush_answers(&stock).await }
        });
    }

    /// Flushes the answer counts to Redis.
    pub async fn flush_answers(&self, stock: &Stock) {
        let Some(sales) = self.0.sales.last() else { return };
        for CachedSale { round, answers, .. } in sales.values().map(Arc::as_ref) {
            let counts = answers.take();
            if counts.is_empty() {
                continue;
            }
            if let Err(error) = stock.of(round).tally(&counts).await {
                tracing::debug!(error = &error as &dyn std::error::Error, sale_id = %round.id.sale, "could not flush the answer counts");
            }
        }
    }
}
