use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use ledger::{Ledger, Switches};
use runtime::Clock;
use sale::{EpochMs, ReservationId, Sale, SaleId, UserId};
use stock::Stock;
use tokio::sync::Mutex;

use crate::{Answers, FulfilmentError, LANE, SaleLoad, SoldOutMark};

/// How long what was read is good for: so soon does every process hear of a stop or a denial.
const FRESH: Duration = Duration::from_secs(2);
/// How long nobody has to wait for the ledger: until then what is known is given out while it is read again.
const USABLE: Duration = Duration::from_secs(30);
/// How long after a reading that failed the next one begins: until then nobody waits for one.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Longest reading. With a call of Redis and one of SQS after it, it fits what a request may take.
const READ_TIMEOUT: Duration = Duration::from_millis(2500);
/// How long answers are gathered before Redis is told of them: a call a second of a process, however many it gives.
const ANSWERS_FOR: Duration = Duration::from_secs(1);
/// How long a sale that is over is told from one that never was, if Redis does not know either.
const OVER_FOR_S: u32 = 60 * 60;

/// What this process knows of the ledger without asking it: the sales, what is stopped, who is denied. The ledger is asked
/// for all of it every few seconds at most, whatever is asked here: no flood of requests reaches it.
#[derive(Clone)]
pub struct Board(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    clock: Clock,
    known: ArcSwapOption<Snapshot>,
    /// Held while the ledger is read, so that one reads for all.
    reading: Arc<Mutex<Option<Failed>>>,
    /// Whether a task is about to tell Redis of the answers.
    telling: AtomicBool,
}

/// The last reading, if it failed.
struct Failed {
    at: Instant,
}

/// What the ledger said at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Published sales, until an hour after their end.
    pub sales: HashMap<SaleId, Arc<LiveSale>>,
    /// What operators have stopped.
    pub switches: Switches,
    /// Who is denied until when. A denial ends by the clock: ask [`Snapshot::is_denied`].
    pub denied: HashMap<UserId, EpochMs>,
    read_at: Instant,
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
}

impl Snapshot {
    /// The published sale of this id.
    pub fn sale(&self, id: &SaleId) -> Option<&Arc<LiveSale>> {
        self.sales.get(id)
    }

    /// The published sale of which a reservation's id names the current round or an earlier one.
    pub fn sale_of(&self, id: &ReservationId) -> Option<&Sale> {
        self.sales.get(&id.sale).map(|live| &live.sale).filter(|sale| id.round <= sale.round)
    }

    /// Whether the user is kept out at `now`.
    pub fn is_denied(&self, user: &UserId, now: EpochMs) -> bool {
        self.denied.get(user).is_some_and(|until| *until > now)
    }
}

impl Board {
    /// An empty board in front of `ledger`.
    pub fn new(ledger: Ledger, clock: Clock) -> Self {
        Self(Arc::new(Inner {
            ledger,
            clock,
            known: ArcSwapOption::empty(),
            reading: Arc::default(),
            telling: AtomicBool::new(false),
        }))
    }

    /// What is known now: at most seconds old, as long as the ledger answers. If it does not, what was known last holds.
    ///
    /// # Errors
    /// If nothing is known and DynamoDB does not answer.
    pub async fn now(&self) -> Result<Arc<Snapshot>, FulfilmentError> {
        match self.0.known.load_full() {
            Some(known) if known.read_at.elapsed() < FRESH => Ok(known),
            Some(known) if known.read_at.elapsed() < USABLE => {
                self.read_beside();
                Ok(known)
            }
            _ => Box::pin(self.wait_for_reading()).await,
        }
    }

    /// Reads the ledger now, whatever is known.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn refresh(&self) -> Result<Arc<Snapshot>, FulfilmentError> {
        let mut reading = self.0.reading.lock().await;
        self.0.read(&mut reading).await
    }

    /// Tells what the sales were asked for since the last time, as shares of what was planned: `SaleLoad`, whose sum over a
    /// minute is 1 for a sale that is asked for as much as planned. Sales without a plan are left out.
    pub fn report_load(&self) {
        let known = self.0.known.load();
        for LiveSale { sale, load, .. } in known.iter().flat_map(|known| known.sales.values()).map(Arc::as_ref) {
            if let (requests @ 1.., Some(share)) = (load.take(), sale.terms.door.share_of_a_minute()) {
                metrics::histogram!("SaleLoad", "Sale" => sale.id.to_string()).record(requests as f64 * share);
            }
        }
    }

    /// Counts what a request for a sale was answered with. Costs no call; a sale that the board does not have is not counted.
    pub fn count_answer(&self, sale: &str, code: &'static str) {
        let (known, id) = (self.0.known.load(), sale.parse());
        if let (Some(known), Ok(id)) = (known.as_ref(), id)
            && let Some(live) = known.sale(&id)
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
        let Some(known) = self.0.known.load_full() else { return };
        for LiveSale { sale, answers, .. } in known.sales.values().map(Arc::as_ref) {
            let counts = answers.take();
            if counts.is_empty() {
                continue;
            }
            if let Err(error) = stock.tally(&sale.id, sale.round, LANE, &counts).await {
                tracing::debug!(error = &error as &dyn std::error::Error, sale_id = %sale.id, "answers are not counted");
            }
        }
    }

    /// Takes note of a denial that this process has just written, or was told of: it holds here at once.
    pub fn note_denied(&self, user: &UserId, until_ms: EpochMs) {
        self.0.known.rcu(|known| {
            known.as_ref().map(|known| {
                let mut denied = known.denied.clone();
                denied.insert(user.clone(), until_ms);
                Arc::new(Snapshot {
                    sales: known.sales.clone(),
                    switches: known.switches.clone(),
                    denied,
                    read_at: known.read_at,
                })
            })
        });
    }

    /// Has one task read the ledger, unless one does or a reading failed a moment ago.
    fn read_beside(&self) {
        let Ok(mut reading) = Arc::clone(&self.0.reading).try_lock_owned() else { return };
        if reading.as_ref().is_some_and(Failed::was_just_now) {
            return;
        }
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            if let Err(error) = inner.read(&mut reading).await {
                tracing::error!(error = &error as &dyn std::error::Error, "what was known last holds");
            }
        });
    }

    async fn wait_for_reading(&self) -> Result<Arc<Snapshot>, FulfilmentError> {
        let mut reading = self.0.reading.lock().await;
        let known = self.0.known.load_full();
        if let Some(known) = known.as_ref().filter(|known| known.read_at.elapsed() < USABLE) {
            return Ok(Arc::clone(known));
        }
        let read = match reading.as_ref() {
            Some(failed) if failed.was_just_now() => Err(FulfilmentError::NothingKnown),
            _ => self.0.read(&mut reading).await,
        };
        match (read, known) {
            (Err(error), Some(known)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what was known last holds");
                Ok(known)
            }
            (read, _) => read,
        }
    }
}

impl Failed {
    fn was_just_now(&self) -> bool {
        self.at.elapsed() < TRY_AGAIN_AFTER
    }
}

impl Inner {
    async fn read(&self, reading: &mut Option<Failed>) -> Result<Arc<Snapshot>, FulfilmentError> {
        let read = tokio::time::timeout(READ_TIMEOUT, self.snapshot()).await;
        let read = read.unwrap_or(Err(FulfilmentError::OutOfTime)).map(Arc::new);
        *reading = read.is_err().then(|| Failed { at: Instant::now() });
        if let Ok(snapshot) = &read {
            self.known.store(Some(Arc::clone(snapshot)));
        }
        read
    }

    async fn snapshot(&self) -> Result<Snapshot, FulfilmentError> {
        let now = self.clock.now();
        let since = EpochMs(now.0 - i64::from(OVER_FOR_S) * 1000);
        let (sales, switches, denied) =
            tokio::try_join!(self.ledger.published_sales(since), self.ledger.switches(), self.ledger.denied(now))?;
        let before = self.known.load_full();
        Ok(Snapshot {
            sales: sales.into_iter().map(|sale| (sale.id.clone(), Arc::new(live(sale, before.as_deref())))).collect(),
            switches,
            denied: denied.into_iter().map(|denial| (denial.user, denial.until_ms)).collect(),
            read_at: Instant::now(),
        })
    }
}

/// What was remembered of a round stays with it.
fn live(sale: Sale, before: Option<&Snapshot>) -> LiveSale {
    let known = before.and_then(|before| before.sale(&sale.id)).filter(|known| known.sale.round == sale.round);
    let (sold_out, load, answers) = known
        .map(|known| (Arc::clone(&known.sold_out), Arc::clone(&known.load), Arc::clone(&known.answers)))
        .unwrap_or_default();
    LiveSale { sale, sold_out, load, answers }
}
