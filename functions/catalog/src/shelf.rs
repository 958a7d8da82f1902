use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use fulfilment::FulfilmentError;
use futures::FutureExt;
use ledger::{DrawEntry, KillSwitches, Ledger};
use process::Published;
use runtime::Clock;
use sale::award::Bytes32;
use sale::{Availability, Campaign, CampaignId, EpochMs, Phase, RainPlan, Round, RoundId, SaleId};
use serde::Serialize;
use stock::{PartialCounters, Stock};

use crate::briefly::{Briefly, KEPT_MS, LONGEST_READ};
use crate::draw_state::{Draw, reveals_at};
use crate::read_limit::ReadLimit;

/// How long a change may take to show to everybody, shared caches included, while reads are quick, in milliseconds.
const SEEN_WITHIN_MS: u64 = 2_000;
const _: () = assert!(*KEPT_MS.end() + crate::caching::SHARED_S as u64 * 1000 < SEEN_WITHIN_MS);

/// The longest wait for the ledger: nobody waits longer for a page.
const LEDGER_TIMEOUT: Duration = LONGEST_READ;
/// The longest wait for Redis, including a new connection: the page is useful without availability.
const REDIS_TIMEOUT: Duration = Duration::from_millis(500);
/// How many rounds' availability is cached: several times the number of sales ever published at once.
const MAX_ROUNDS: u64 = 10_000;
const MAX_DRAWS: u64 = 1_000;
/// How many seconds before the opening the answer says whether a round is loaded: by then all published in time are.
const PREPARED_S: u32 = 120;
/// How long a finished sale is still shown, in seconds, to people who have its page open.
const OVER_FOR_S: u32 = 24 * 60 * 60;

/// How many sales the full list has at most. Each open one costs a call to Redis, and each adds half a kilobyte.
const MOST_LISTED: usize = 100;

/// A short-lived cache of Redis and the ledger, to protect both.
///
/// Everything published is read from the ledger at once. A sale that is not there is known to be absent without a
/// further call, so a flood of made-up ids neither reaches the ledger nor fills the memory.
#[derive(Clone)]
pub struct Shelf {
    stock: Stock,
    ledger: Ledger,
    clock: Clock,
    published: Arc<Published>,
    listed: Briefly<(), Arc<Listed>>,
    left: Briefly<RoundId, Availability>,
    draws: Briefly<RoundId, Option<Arc<Draw>>>,
    drawing: Arc<ReadLimit>,
}

pub(crate) struct Listed {
    /// The latest round of each sale that everybody may see.
    pub(crate) rounds: HashMap<SaleId, Round>,
    /// The latest round of each other sale.
    pub(crate) hidden: HashMap<SaleId, Round>,
    pub(crate) campaigns: BTreeMap<CampaignId, Campaign>,
    kill_switches: KillSwitches,
}

pub(crate) struct SaleStatus {
    pub(crate) phase: Phase,
    pub(crate) availability: Availability,
    /// In a round whose units become available over time. For display only: Redis's clock decides.
    pub(crate) rain: Option<RainProgress>,
    pub(crate) next_release_ms: Option<EpochMs>,
}

#[derive(Serialize)]
pub(crate) struct RainProgress {
    units: u32,
    /// How many units have become available, whoever has them now.
    dropped: u32,
}

impl RainProgress {
    fn of(plan: &RainPlan, round: &Round, phase: Phase, now: EpochMs) -> Self {
        let dropped = match phase {
            Phase::Upcoming => 0,
            Phase::Open | Phase::Paused | Phase::Closed => plan.available(now.min(round.terms.closes_at_ms)),
        };
        Self { units: plan.last, dropped }
    }
}

impl Listed {
    /// The sales to list first: open ones, the first to close first; then upcoming ones, the first to open first; then
    /// finished ones, the last to close first. At most as many as fit into a list.
    pub(crate) fn front(&self, now: EpochMs) -> Vec<&Round> {
        let mut rounds: Vec<_> = self.rounds.values().collect();
        rounds.sort_by_cached_key(|round| {
            let (opens, closes) = (round.terms.opens_at_ms, round.terms.closes_at_ms);
            let place = match (opens <= now, closes <= now) {
                (_, true) => (2, -closes.0),
                (true, false) => (0, closes.0),
                (false, false) => (1, opens.0),
            };
            (place, round.id.sale.clone())
        });
        rounds.truncate(MOST_LISTED);
        rounds
    }

    /// A campaign with at least one published sale.
    pub(crate) fn campaign(&self, id: &CampaignId) -> Option<&Campaign> {
        self.campaigns.get(id).filter(|campaign| self.rounds_of(campaign).next().is_some())
    }

    pub(crate) fn rounds_of(&self, campaign: &Campaign) -> impl Iterator<Item = &Round> {
        campaign.sale_ids.iter().filter_map(|id| self.rounds.get(id))
    }
}

impl Shelf {
    pub fn new(stock: Stock, ledger: Ledger, clock: Clock) -> Self {
        let (listed, left) = (Briefly::new(1, clock), Briefly::new(MAX_ROUNDS, clock));
        let (draws, drawing) = (Briefly::new(MAX_DRAWS, clock), Arc::new(ReadLimit::new()));
        let published = Arc::new(Published::new(ledger.clone(), clock, OVER_FOR_S, LEDGER_TIMEOUT));
        Self { stock, ledger, clock, published, listed, left, draws, drawing }
    }

    pub async fn rounds(&self) -> u64 {
        self.left.count().await
    }

    /// Everything published. Concurrent callers share one read. Fails if the ledger does not answer.
    pub(crate) async fn listed(&self) -> Result<Arc<Listed>, Arc<FulfilmentError>> {
        self.listed.get(&(), || self.read()).await
    }

    async fn read(&self) -> Result<Arc<Listed>, FulfilmentError> {
        let read = async {
            tokio::try_join!(self.published.latest_rounds(), self.ledger.campaigns(), self.ledger.kill_switches())
        };
        let (rounds, campaigns, kill_switches) = self.in_time(read).await?;
        let (hidden, rounds) = rounds.into_iter().partition(|(_, round)| round.terms.gate.is_hidden());
        Ok(Arc::new(Listed {
            rounds,
            hidden,
            campaigns: campaigns.into_iter().map(|campaign| (campaign.id.clone(), campaign)).collect(),
            kill_switches,
        }))
    }

    async fn in_time<T, E>(&self, reading: impl Future<Output = Result<T, E>>) -> Result<T, FulfilmentError>
    where
        FulfilmentError: From<E>,
    {
        let read = tokio::time::timeout(self.clock.limit(LEDGER_TIMEOUT), reading).await;
        Ok(read.map_err(|_| FulfilmentError::OutOfTime)??)
    }

    async fn in_redis(&self, round: &Round) -> Result<PartialCounters, Box<dyn Error + Send + Sync>> {
        Ok(tokio::time::timeout(self.clock.limit(REDIS_TIMEOUT), self.stock.of(round).partial_counters()).await??)
    }

    /// A round's availability at `now`. Redis is only asked while something is for sale, in one call for all who ask.
    pub(crate) async fn status_of(&self, listed: &Listed, round: &Round, now: EpochMs) -> SaleStatus {
        let is_held_up = round.paused || listed.kill_switches.is_stopped(&round.id.sale) || round.awaits_beacon();
        let phase = Phase::of(&round.terms, is_held_up, now);
        let availability = match phase {
            Phase::Upcoming => self.loaded(round, round.terms.opens_at_ms, now).await,
            Phase::Closed => Availability::Unknown,
            Phase::Open | Phase::Paused => self.left_of(round).await,
        };
        let plan = round.terms.rain_plan();
        let next_release_ms = match phase {
            Phase::Open | Phase::Paused => plan.as_ref().and_then(|plan| plan.next_drop(now)),
            Phase::Upcoming | Phase::Closed => None,
        };
        let next_release_ms = next_release_ms.filter(|at| *at < round.terms.closes_at_ms);
        let rain = plan.map(|plan| RainProgress::of(&plan, round, phase, now));
        SaleStatus { phase, availability, rain, next_release_ms }
    }

    /// Availability before the opening, when no unit is gone: whether Redis has the round, asked when it soon should.
    async fn loaded(&self, round: &Round, opens_at: EpochMs, now: EpochMs) -> Availability {
        if now.plus_s(PREPARED_S) < opens_at {
            return Availability::Available;
        }
        match self.left_of(round).await {
            Availability::Unknown => Availability::Unknown,
            _ => Availability::Available,
        }
    }

    async fn left_of(&self, round: &Round) -> Availability {
        let asked = self.left.get(&round.id, || self.ask(round).map(Ok::<_, Infallible>)).await;
        asked.unwrap_or_else(|never| match *never {})
    }

    /// The draw of a round, or `None` if the round does not exist or has no awards. Concurrent callers share one read.
    /// Fails if the ledger does not answer.
    pub(crate) async fn draw(&self, id: &RoundId) -> Result<Option<Arc<Draw>>, Arc<FulfilmentError>> {
        let read = || async { Ok(self.in_time(self.drawing.one(self.read_draw(id))).await?.map(Arc::new)) };
        self.draws.get(id, read).await
    }

    async fn read_draw(&self, id: &RoundId) -> Result<Option<Draw>, FulfilmentError> {
        // Not from the list, which may lag: the round's end decides whether the seed may be public.
        let round = self.ledger.round(id).await?.filter(|round| round.commitment.is_some());
        let Some(round) = round else { return Ok(None) };
        let at_end = if round.terms.allocation.is_drawn_at_end() { self.ledger.draw(id).await? } else { None };
        let may_be_known = if round.terms.allocation.is_drawn_at_end() {
            // Before the entries are published, somebody who knew the seed could keep entering until a favourite wins.
            at_end.as_ref().is_some_and(|draw| draw.closed.is_some())
        } else {
            self.is_over_for_all(&round).await
        };
        let seed = if may_be_known { self.ledger.seed(id).await? } else { None };
        let beacon = if round.terms.allocation.has_beacon() { self.ledger.beacon(id).await? } else { None };
        Ok(Some(Draw::new(round, seed.map(|kept| kept.seed), at_end, beacon)))
    }

    /// A chunk of a draw's entries, which shared caches keep, not the process. Fails if the ledger does not answer.
    pub(crate) async fn entries(
        &self,
        id: &RoundId,
        root: &Bytes32,
        chunk: u32,
    ) -> Result<Option<Vec<DrawEntry>>, FulfilmentError> {
        self.in_time(Box::pin(self.drawing.one(self.ledger.entries_chunk(id, root, chunk)))).await
    }

    /// Whether nobody can get a unit of the round any more. An early end reaches the ledger first and Redis a moment
    /// later. While Redis still sells, or does not answer, the round counts as open.
    async fn is_over_for_all(&self, round: &Round) -> bool {
        let now = self.clock.now();
        let is_over = |closes_at| reveals_at(closes_at) <= now;
        if !is_over(round.terms.closes_at_ms) {
            return false;
        }
        match self.in_redis(round).await {
            // A lane that Redis has lost sells nothing; a lane that does not answer may.
            Ok(PartialCounters { counters, away, .. }) => {
                away.is_empty() && counters.is_none_or(|counters| is_over(counters.closes_at_ms))
            }
            Err(error) => {
                tracing::warn!(error = &*error as &dyn Error, sale_id = %round.id.sale, "the seed stays hidden: Redis does not say whether the round is over");
                false
            }
        }
    }

    async fn ask(&self, round: &Round) -> Availability {
        match self.in_redis(round).await {
            Ok(known) => {
                let are_all = known.are_all();
                let left = known.counters.and_then(|counters| {
                    Some(Availability::of(counters.known_available(self.clock.now())?, counters.total()))
                });
                // Unknown lanes may have some.
                left.filter(|left| are_all || *left == Availability::Available).unwrap_or(Availability::Unknown)
            }
            Err(error) => {
                tracing::warn!(error = &*error as &dyn Error, sale_id = %round.id.sale, "Redis does not say what is left");
                Availability::Unknown
            }
        }
    }
}
