use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Result;
use door::{Grant, KeyRing};
use futures::{StreamExt, TryStreamExt, stream};
use hdrhistogram::Histogram;
use sale::{EpochMs, Round, SaleId, UserId};
use tokio::sync::OnceCell;

use crate::client::{Answer, Client};
use crate::cloud::Cloud;
use crate::demo::{Plan, SALE};
use crate::stages::Stage;

/// One of so many cancels, and one of so many lets the payment window pass.
const CANCEL_ONE_OF: usize = 20;
const FORGET_ONE_OF: usize = 4;
/// One of so many, of the first so many, comes in by the door and does the work that it asks for.
const BY_THE_DOOR: (usize, usize) = (10, 30);
/// Passes hold for five minutes: the others' are younger than this.
const OLDEST_PASS_MS: i64 = 240_000;
const ROUND: Round = Round(1);

/// What someone does with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// Pays.
    Pays,
    /// Lets the payment window pass.
    Forgets,
    /// Gives it back.
    Cancels,
}

/// When someone tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wave {
    /// When the sale opens.
    Rush,
    /// Afterwards, for what came back.
    Resale,
}

/// Someone who wants a unit.
pub(super) struct Buyer {
    pub(super) number: usize,
    pub(super) token: String,
    user: UserId,
    /// The pass that the door gave.
    entered: OnceCell<String>,
}

impl Buyer {
    /// Fixed by the number, so that every run has some of each. Who waited for a unit pays for it.
    pub(super) const fn habit(&self, wave: Wave) -> Habit {
        if matches!(wave, Wave::Resale) {
            Habit::Pays
        } else if self.number.is_multiple_of(CANCEL_ONE_OF) {
            Habit::Cancels
        } else if self.number.is_multiple_of(FORGET_ONE_OF) {
            Habit::Forgets
        } else {
            Habit::Pays
        }
    }
}

/// Everybody, and what they heard.
pub(super) struct Crowd {
    pub(super) buyers: Vec<Buyer>,
    pub(super) client: Client,
    pub(super) payment_key: String,
    pub(super) payment_window_s: u32,
    pub(super) units: usize,
    sale: SaleId,
    passes: KeyRing,
    gathered_at: EpochMs,
    heard: Mutex<Heard>,
}

/// What was heard: the program's own count. The audit does not rest on it.
pub(super) struct Heard {
    pub(super) answers: BTreeMap<String, u64>,
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) latency_us: Histogram<u64>,
    /// Reservations that were answered with 202: whose, and when.
    pub(super) accepted: HashMap<String, (usize, Wave)>,
    pub(super) rush_s: f64,
    pub(super) rush_requests: u64,
}

impl Crowd {
    /// Signs a token for everybody.
    pub(super) async fn gather(plan: &Plan, cloud: &Cloud) -> Result<Self> {
        let stage = Stage::steps("Signing identities", plan.buyers as usize);
        let buyers: Vec<Buyer> = stream::iter(0..plan.buyers as usize)
            .map(|number| {
                stage.step();
                let user: UserId = format!("buyer-{number:06}").parse()?;
                let token = cloud.issuer.token(user.as_str())?;
                Ok::<_, anyhow::Error>(Buyer { number, token, user, entered: OnceCell::new() })
            })
            .try_collect()
            .await?;
        stage.done(format!("{} buyers", buyers.len()));
        let heard = Heard {
            answers: BTreeMap::new(),
            errors: BTreeMap::new(),
            latency_us: Histogram::new(3)?,
            accepted: HashMap::new(),
            rush_s: 0.0,
            rush_requests: 0,
        };
        Ok(Self {
            buyers,
            client: Client::new(&cloud.deployment.api_url)?,
            payment_key: cloud.deployment.payment_key().await?,
            payment_window_s: plan.payment_window_s(),
            units: plan.units as usize,
            sale: SALE.parse()?,
            gathered_at: runtime::Clock::system().now(),
            passes: cloud.deployment.pass_ring().await?,
            heard: Mutex::new(heard),
        })
    }

    pub(super) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reservations that were accepted and are not among those that ended.
    pub(super) fn open_reservations(&self, ended: &HashSet<String>) -> Vec<(String, &Buyer, Wave)> {
        let heard = self.heard();
        let open = heard.accepted.iter().filter(|(id, _)| !ended.contains(*id));
        open.map(|(id, (number, wave))| (id.clone(), &self.buyers[*number], *wave)).collect()
    }

    /// Buyers who were never given anything.
    pub(super) fn without_reservation(&self) -> VecDeque<&Buyer> {
        let heard = self.heard();
        let winners: HashSet<usize> = heard.accepted.values().map(|(number, _)| *number).collect();
        self.buyers.iter().filter(|buyer| !winners.contains(&buyer.number)).collect()
    }

    /// A few come in by the door. The others were let in before, so that what is measured is the rush for units.
    async fn pass(&self, buyer: &Buyer, wave: Wave) -> Result<String> {
        let by_the_door = buyer.number < BY_THE_DOOR.1 && buyer.number % BY_THE_DOOR.0 == BY_THE_DOOR.0 - 1;
        if by_the_door && wave == Wave::Rush {
            return Ok(buyer.entered.get_or_try_init(|| self.client.enter(&buyer.token, SALE)).await?.clone());
        }
        let oldest = runtime::Clock::system().now().0 - OLDEST_PASS_MS;
        let issued_at_ms = EpochMs(self.gathered_at.0.max(oldest));
        Ok(self.passes.seal(&Grant { sale: &self.sale, round: ROUND, user: &buyer.user, issued_at_ms }))
    }

    /// One request of one buyer, counted and timed.
    pub(super) async fn try_once(&self, buyer: &Buyer, wave: Wave) -> Answer {
        // One key for each wave: a repeated try is a retry of the same request.
        let attempt = if wave == Wave::Rush { "rush" } else { "resale" };
        let (answer, took_us) = match self.pass(buyer, wave).await {
            Ok(pass) => {
                let start = Instant::now();
                let answer = self.client.reserve(&buyer.token, SALE, &pass, attempt).await;
                (answer, Some(start.elapsed().as_micros() as u64))
            }
            Err(refusal) => (Answer::Problem(refusal.to_string()), None),
        };
        let mut heard = self.heard();
        if let Some(took_us) = took_us {
            let _ = heard.latency_us.record(took_us);
        }
        let name = match &answer {
            Answer::Reserved(id) => {
                heard.accepted.entry(id.clone()).or_insert((buyer.number, wave));
                "reserved"
            }
            Answer::Problem(code) => code,
            Answer::Error(error) => {
                *heard.errors.entry(error.clone()).or_default() += 1;
                "error"
            }
        };
        *heard.answers.entry(name.to_owned()).or_default() += 1;
        answer
    }
}

/// Does `work` for everybody, so many at a time.
pub(super) async fn everybody<T>(of: impl IntoIterator<Item = T>, at_once: usize, work: impl AsyncFn(T)) {
    let work = &work;
    stream::iter(of).for_each_concurrent(at_once, |one| work(one)).await;
}
