use std::collections::HashSet;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ledger::{KillSwitches, Ledger, LedgerError};
use runtime::cache::{Bounds, RefreshError, Refreshed};
use runtime::{Clock, Moment};
use sale::{EpochMs, Round, RoundId, SaleId};
use stock::Stock;

use crate::cached_sale::CachedSale;
use crate::debounce::Debounce;
use crate::for_sale::ForSale;

/// The bounds of the sales and of the kill switches. Every process acts on a stop within `usable`. A stop that nobody
/// can read has no effect, so the last value must not be used for ever. A read, a call to Redis and one to SQS fit into
/// a request's time.
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
/// How long answers are counted before they are flushed to Redis: one flush a second per process, for any number.
const ANSWERS_FOR: Duration = Duration::from_secs(1);
/// How long a finished sale stays in the snapshot, which distinguishes it from one that never existed, in seconds.
const OVER_FOR_S: u32 = 60 * 60;
/// How old the sales may be for the answer that a sale does not exist, since it may have been published meanwhile. A
/// flood of made-up ids makes a process read the changes this often, and no more.
const SAYS_NO_FOR: Duration = Duration::from_secs(1);
/// How long a list or a round is used without any news of it, in seconds: each process picks a time in this range, so
/// that those which started together do not read together.
const PERIOD_S: std::ops::Range<u64> = 480..720;
/// The time limit for reading rounds. A round that cannot be read must not keep the others' changes from being heard.
const ROUNDS_TIMEOUT: Duration = Duration::from_secs(1);

type Unread = RefreshError<LedgerError>;

/// This process's copy of the published sales and of the kill switches. Each is read separately, at most every few
/// seconds however many callers there are: if one cannot be read, the other is still up to date.
///
/// Of the sales it reads what has changed, and the rounds it was asked for: the cost does not depend on their number.
#[derive(Clone)]
pub struct Snapshots(Arc<Inner>);

struct Inner {
    clock: Clock,
    sales: Refreshed<ForSale, LedgerError>,
    kill_switches: Refreshed<KillSwitches, LedgerError>,
    /// Sales whose rounds the next read of the sales reads too.
    wanted: Arc<Mutex<HashSet<SaleId>>>,
    flush: Debounce,
}

/// The published sales and the kill switches, as the ledger had them a moment ago.
#[derive(Debug, Clone)]
pub struct Snapshot {
    sales: Arc<ForSale>,
    pub kill_switches: Arc<KillSwitches>,
}

impl Snapshot {
    /// The published sale with this id, until an hour after its end, if this process was asked for it before.
    pub fn sale(&self, id: &SaleId) -> Option<&Arc<CachedSale>> {
        self.sales.sale(id.as_str())
    }

    /// The latest round of `of`'s sale, if that is `of` or a later one.
    pub fn latest_round(&self, of: &RoundId) -> Option<&Round> {
        self.sale(&of.sale).map(|cached| &cached.round).filter(|latest| of.number <= latest.id.number)
    }
}

impl Snapshots {
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        let of_kill_switches = ledger.clone();
        let wanted: Arc<Mutex<HashSet<SaleId>>> = Arc::default();
        let asked_for = Arc::clone(&wanted);
        let period = period();
        let on_failure = "cannot read the published sales; using the last ones";
        let sales = Refreshed::new(on_failure, BOUNDS, clock, move |before: Option<Arc<ForSale>>| {
            let (ledger, asked_for) = (ledger.clone(), Arc::clone(&asked_for));
            let before = before.map_or_else(|| ForSale::unknown(period), Arc::unwrap_or_clone);
            let wanted = move |_: &ForSale| take(&mut *asked_for.lock().unwrap_or_else(PoisonError::into_inner));
            Box::pin(async move { read_on(&ledger, before, wanted, clock, OVER_FOR_S, ROUNDS_TIMEOUT).await })
        });
        let kill_switches =
            Refreshed::new("cannot read the kill switches; using the last ones", BOUNDS, clock, move |before| {
                let ledger = of_kill_switches.clone();
                Box::pin(async move { ledger.recent_kill_switches(before.as_deref()).await })
            });
        Self(Arc::new(Inner { clock, sales, kill_switches, wanted, flush: Debounce::default() }))
    }

    /// The current snapshot: at most a few seconds old while the ledger answers. If it does not, the last one is used
    /// for some minutes. Fails if DynamoDB does not answer, and there is no recent enough snapshot.
    pub async fn now(&self) -> Result<Snapshot, Unread> {
        let Inner { clock, sales, kill_switches, .. } = &*self.0;
        let now = Moment::now(*clock);
        if let (Some(sales), Some(kill_switches)) = (sales.at_hand(now), kill_switches.at_hand(now)) {
            return Ok(Snapshot { sales, kill_switches });
        }
        let (sales, kill_switches) = Box::pin(async { tokio::try_join!(sales.get(), kill_switches.get()) }).await?;
        Ok(Snapshot { sales, kill_switches })
    }

    /// The current snapshot, with this sale if published. Fails if DynamoDB does not answer, and the last is too old.
    pub async fn of(&self, sale: &SaleId) -> Result<Snapshot, Unread> {
        self.with(self.now().await?, sale).await
    }

    /// A snapshot that is new enough to answer that this sale does not exist.
    pub async fn lately(&self, sale: &SaleId) -> Result<Snapshot, Unread> {
        let Inner { sales, kill_switches, .. } = &*self.0;
        let (sales, kill_switches) = tokio::try_join!(sales.no_older_than(SAYS_NO_FOR), kill_switches.get())?;
        self.with(Snapshot { sales, kill_switches }, sale).await
    }

    /// Of the sales that `may` be meant by when they open and close, those that opened last, at most `most`. Fails if
    /// DynamoDB does not answer, and there is no recent enough snapshot.
    pub async fn opened_last(
        &self,
        most: usize,
        may: impl Fn(EpochMs, EpochMs) -> bool,
    ) -> Result<Vec<Arc<CachedSale>>, Unread> {
        let Snapshot { mut sales, .. } = self.now().await?;
        let ids = sales.opened_last(most, may);
        if ids.iter().any(|id| sales.lacks(id)) {
            sales = self.reading(&ids).await?;
        }
        Ok(ids.iter().filter_map(|id| sales.sale(id.as_str()).cloned()).collect())
    }

    async fn with(&self, mut snapshot: Snapshot, sale: &SaleId) -> Result<Snapshot, Unread> {
        if snapshot.sales.lacks(sale) {
            snapshot.sales = Box::pin(self.reading(std::slice::from_ref(sale))).await?;
            if snapshot.sales.lacks(sale) {
                return Err(Unread::JustFailed);
            }
        }
        Ok(snapshot)
    }

    /// The sales, once these have been read, or could not be read a moment ago. One read serves all who wait.
    async fn reading(&self, ids: &[SaleId]) -> Result<Arc<ForSale>, Unread> {
        let now = Moment::now(self.0.clock);
        let is_done = |sales: &ForSale| {
            let missing: Vec<&SaleId> = ids.iter().filter(|id| sales.lacks(id)).collect();
            let is_done = missing.is_empty() || sales.just_failed(now);
            if !is_done {
                self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner).extend(missing.into_iter().cloned());
            }
            is_done
        };
        self.0.sales.until(is_done).await
    }

    /// Reads the ledger now, however new the snapshot is.
    pub async fn refresh(&self) -> Result<Snapshot, Unread> {
        let Inner { sales, kill_switches, .. } = &*self.0;
        let (sales, kill_switches) = tokio::try_join!(sales.refresh(), kill_switches.refresh())?;
        Ok(Snapshot { sales, kill_switches })
    }

    /// Reports the demand for each sale since the last report as `SaleLoad`, a fraction of the expected demand: the sum
    /// over a minute is 1 if demand is as planned, or the default for a sale without a plan.
    pub fn report_demand(&self) {
        let sales = self.0.sales.last();
        for cached in sales.iter().flat_map(|sales| sales.sales()) {
            if let requests @ 1.. = cached.demand.take() {
                let round = &cached.round;
                let share = round.terms.door.share_of_a_minute(round.terms.lanes);
                metrics::histogram!("SaleLoad", "Sale" => round.id.sale.to_string()).record(requests as f64 * share);
            }
        }
    }

    /// The number of lanes of a published sale's rounds, if this process has read it. Makes no call.
    pub fn lanes_of(&self, sale: &SaleId) -> Option<u16> {
        self.0.sales.last()?.sale(sale.as_str()).map(|cached| cached.round.terms.lanes)
    }

    /// Counts an answer to a request for a sale, without a call. Answers about unknown sales are not counted.
    pub fn count_answer(&self, sale: &str, code: &'static str) {
        if let Some(cached) = self.0.sales.last().as_ref().and_then(|sales| sales.sale(sale)) {
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

    pub async fn flush_answers(&self, stock: &Stock) {
        let Some(sales) = self.0.sales.last() else { return };
        for cached in sales.sales() {
            let (round, counts) = (&cached.round, cached.answers.take());
            if counts.is_empty() {
                continue;
            }
            if let Err(error) = stock.of(round).tally(&counts).await {
                tracing::debug!(error = &error as &dyn std::error::Error, sale_id = %round.id.sale, "could not flush the answer counts");
            }
        }
    }
}

pub(crate) fn period() -> Duration {
    Duration::from_secs(rand::random_range(PERIOD_S))
}

/// Reads what has changed since `known`, and what is wanted.
pub(crate) async fn read_on(
    ledger: &Ledger,
    mut known: ForSale,
    wanted: impl FnOnce(&ForSale) -> HashSet<SaleId>,
    clock: Clock,
    over_for_s: u32,
    rounds_timeout: Duration,
) -> Result<ForSale, LedgerError> {
    let began = Moment::now(clock);
    let time = clock.now();
    let since = EpochMs(time.0 - i64::from(over_for_s) * 1000);
    known.hear(ledger.recent_changes().await?, began);
    if known.must_list(began) {
        match ledger.listed_rounds(since, EpochMs(i64::MAX)).await {
            Ok(list) => known.list(list, began),
            Err(error) if !known.is_listed() => return Err(error),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "cannot list the published sales");
            }
        }
    }
    let wanted = wanted(&known);
    let mut ids = known.due(&wanted, began, time);
    for consistently in [false, true] {
        if ids.is_empty() {
            break;
        }
        let read = tokio::time::timeout(clock.limit(rounds_timeout), ledger.published(&ids, consistently)).await;
        match read.map_or(Err(RefreshError::TimedOut), |read| read.map_err(RefreshError::Read)) {
            Ok(rounds) => ids = known.keep(rounds, ids, began),
            Err(error) => {
                error.log("cannot read rounds; using the last ones");
                known.fail(began);
                ids.clear();
            }
        }
    }
    known.forget(ids, began);
    known.drop_over(since);
    Ok(known)
}
