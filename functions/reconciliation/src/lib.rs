//! Finds where Redis and the ledger disagree, and repairs it. Takes no input: it reads the state.
//!
//! What buyers wait for comes first, for all rounds concurrently: keys that Redis lost, new terms, messages that were
//! not sent. In passing it records which rounds have opened, sold out or ended, for the merchant's systems, and how
//! many requests each gets. Then come overdue orders, and then the rounds are audited and repaired one by one. Each
//! part has a time budget, and each run begins with another round, so that no sale uses up the time of the others.

mod deps;
mod summary;
mod traffic;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use context::{Serving, serve_events};
use fulfilment::{
    FulfilmentError, Listing, Loading, Overdue, Repaired, UnknownLanes, WARMUP_LEAD_S, expire_overdue,
    finish_transfers, list, load_round, note_complete, reconcile_blocks, repair, send_due,
};
use futures::future::join_all;
use futures::{StreamExt, stream};
use ledger::{KillSwitches, Ledger, LedgerError, NotedRound, NotedTraffic};
use sale::audit::Repair;
use sale::{EpochMs, MAX_PAYMENT_WINDOW_S, Observation, Round, RoundId, RoundNumber};
use serde_json::Value;
use tokio::time::timeout;

pub use crate::deps::{RUN_TIMEOUT, ReconciliationDeps};
pub use crate::summary::ReconciliationSummary;

/// How long after its close a round is still examined, in seconds: until its last order can have expired, and the day more
/// for which Redis keeps it. So a reservation whose message SQS refused all that time is still sent.
const READ_AFTER_CLOSE_S: u32 = MAX_PAYMENT_WINDOW_S + 24 * 60 * 60;

/// How many rounds are handled concurrently: one that waits for a slow part holds up few others.
const TENDED_AT_ONCE: usize = 8;
/// Time budget for reading what only the merchant's systems need: before what buyers wait for, which has as much.
const RECORDED_BUDGET: Duration = Duration::from_secs(10);
/// Time budget for what the buyers of one round wait for.
const TEND_BUDGET: Duration = Duration::from_secs(8);
/// Time budget for what buyers wait for, over all sales: leaves the audits more than half of the run.
const TEND_ALL_BUDGET: Duration = Duration::from_secs(20);
/// Time budget for blocks. The next run does the rest.
const BLOCKS_BUDGET: Duration = Duration::from_secs(5);
/// Time budget for overdue orders. They are read in pages, and the next run continues.
const OVERDUE_BUDGET: Duration = Duration::from_secs(8);
/// Time budget for the audit and repair of one round: enough for some hundred thousand reservations, and another round.
const AUDIT_BUDGET: Duration = Duration::from_secs(15);
const _: () = assert!(
    TEND_ALL_BUDGET.as_secs() + BLOCKS_BUDGET.as_secs() + OVERDUE_BUDGET.as_secs() + AUDIT_BUDGET.as_secs()
        < RUN_TIMEOUT.as_secs(),
    "every run audits"
);
/// How often a run audits a round with several lanes, as long as the previous audit gave units back.
const PASSES: usize = 3;
/// How many units of a repair the log names.
const MAX_LOGGED: usize = 100;
/// In one of this many runs, finished rounds come first, so that they are audited however many others there are.
const OVER_FIRST_EVERY: i64 = 10;
/// This many seconds after its last order can have expired, a round is finished, and audited after the others.
const OVER_AFTER_S: u32 = 5 * 60;

pub fn run() -> Serving {
    serve_events(ReconciliationDeps::new, async |deps: &ReconciliationDeps, _: Value| Ok(handle(deps).await?))
}

/// Examines everything once. Fails if the sales cannot be read from the ledger.
pub async fn handle(deps: &ReconciliationDeps) -> Result<ReconciliationSummary, FulfilmentError> {
    let mut summary = ReconciliationSummary::default();
    match tokio::time::timeout(deps.run_timeout, reconcile(deps, &mut summary)).await {
        Ok(reconciled) => reconciled?,
        Err(late) => failed(&mut summary, "out of time; the next run does the rest", &late),
    }
    summary.set_gauges();
    tracing::info!(summary = serde_json::to_string(&summary).unwrap_or_default(), "reconciled");
    Ok(summary)
}

async fn reconcile(deps: &ReconciliationDeps, summary: &mut ReconciliationSummary) -> Result<(), FulfilmentError> {
    let began = Instant::now();
    let now = deps.clock.now();
    let since = EpochMs(now.0 - i64::from(READ_AFTER_CLOSE_S) * 1000);
    let published = deps.ledger.published_rounds(since).await;
    if let Ok(published) = &published {
        let tended = timeout(TEND_ALL_BUDGET, tend_all(deps, published, now, summary)).await;
        tended.unwrap_or_else(|late| failed(summary, "what buyers wait for", &late));
        // Also for rounds that are not open yet: a blocked user gets no challenge.
        let mut rounds = published.clone();
        rotate(&mut rounds, now);
        within(summary, "blocks", BLOCKS_BUDGET, reconcile_blocks(&deps.stock, &deps.ledger, &rounds, now)).await;
    }
    expire(deps, now, summary).await;
    audit_all(deps, &by_urgency(&published?, now), began, summary).await;
    Ok(())
}

/// Rounds that have opened, and all later rounds of their sales.
fn begun(published: &[Round], now: EpochMs) -> impl Iterator<Item = &Round> {
    published.iter().filter(move |round| now >= round.terms.first_opens_at_ms() || round.id.number > RoundNumber(1))
}

/// Runs a step within its time. Returns `None` if it fails or is late, which is recorded; the other steps still run.
async fn within<T, E>(
    summary: &mut ReconciliationSummary,
    what: &str,
    budget: Duration,
    step: impl Future<Output = Result<T, E>>,
) -> Option<T>
where
    E: std::error::Error + 'static,
{
    match timeout(budget, step).await {
        Ok(Ok(found)) => return Some(found),
        Ok(Err(error)) => failed(summary, what, &error),
        Err(late) => failed(summary, what, &late),
    }
    None
}

fn failed(summary: &mut ReconciliationSummary, what: &str, error: &(dyn std::error::Error + 'static)) {
    summary.failed += 1;
    tracing::error!(error, what, "not reconciled");
}

async fn expire(deps: &ReconciliationDeps, now: EpochMs, summary: &mut ReconciliationSummary) {
    let mut overdue = Overdue::default();
    let expired = expire_overdue(&deps.stock, &deps.ledger, now, &mut overdue);
    within(summary, "overdue orders", OVERDUE_BUDGET, expired).await;
    summary.overdue += overdue.expired;
    summary.failed += overdue.failed;
}

/// What the buyers of one round waited for.
#[derive(Default)]
struct Tended {
    rebuilt: usize,
    /// For each lane.
    sent: Vec<usize>,
    outbox_age_s: u64,
    is_busy: bool,
    failed: usize,
}

impl Tended {
    /// Records a failed step. The other steps still run.
    fn unless_failed<T>(&mut self, id: &RoundId, step: Result<T, impl Into<FulfilmentError>>) -> Option<T> {
        step.map_err(|error| {
            self.failed += 1;
            let error: FulfilmentError = error.into();
            tracing::error!(sale_id = %id.sale, error = &error as &dyn std::error::Error, "not reconciled");
        })
        .ok()
    }
}

/// Open rounds first, beginning with a different one in each run. Includes rounds that warmup loads by now, so that
/// Redis gets what it missed, such as a pause, before they open.
async fn tend_all(deps: &ReconciliationDeps, published: &[Round], now: EpochMs, summary: &mut ReconciliationSummary) {
    let (mut open, mut rest): (Vec<Round>, Vec<Round>) =
        begun(published, now.plus_s(WARMUP_LEAD_S)).cloned().partition(|round| round.is_open(now));
    rotate(&mut open, now);
    rotate(&mut rest, now);
    let recorded = Recorded::read(&deps.ledger, open.iter().chain(&rest));
    let recorded = within(summary, "what was noted of rounds", RECORDED_BUDGET, recorded).await;
    let recorded = recorded.as_ref();
    let mut tended = stream::iter(open.into_iter().chain(rest))
        .map(|round| async move {
            let mut tended = Tended::default();
            if let Err(late) = timeout(TEND_BUDGET, tend(deps, &round, recorded, now, &mut tended)).await {
                tended.failed += 1;
                tracing::error!(sale_id = %round.id.sale, error = &late as &dyn std::error::Error, "this round could not be reconciled in time");
            }
            tended
        })
        .buffer_unordered(TENDED_AT_ONCE);
    while let Some(Tended { rebuilt, sent, outbox_age_s, is_busy, failed }) = tended.next().await {
        summary.rebuilt += rebuilt;
        summary.sent += sent.iter().sum::<usize>();
        summary.outbox_age_s = summary.outbox_age_s.max(outbox_age_s);
        summary.busy += usize::from(is_busy);
        summary.failed += failed;
    }
}

/// What has to be read before the rounds are examined, so that changes can be recorded.
struct Recorded {
    /// The recorded milestones of each round; `None` if they cannot be read.
    noted: HashMap<RoundId, Option<NotedRound>>,
    traffic: HashMap<RoundId, NotedTraffic>,
    kill_switches: KillSwitches,
}

impl Recorded {
    async fn read(ledger: &Ledger, rounds: impl Iterator<Item = &Round> + Clone) -> Result<Self, LedgerError> {
        let ids = rounds.map(|round| &round.id);
        let (noted, traffic, kill_switches) =
            tokio::try_join!(ledger.noted_rounds(ids.clone()), ledger.traffic_of(ids), ledger.kill_switches())?;
        Ok(Self { noted, traffic, kill_switches })
    }
}

/// Does what the buyers of a round wait for; each step runs whatever became of the previous one. Work that every loaded
/// round needs in each run belongs here, and must be bounded and cheap.
async fn tend(
    deps: &ReconciliationDeps,
    round: &Round,
    recorded: Option<&Recorded>,
    now: EpochMs,
    tended: &mut Tended,
) {
    let ReconciliationDeps { stock, ledger, orders, send_again_after, .. } = deps;
    let (id, lanes) = (&round.id, round.terms.lanes);
    if round.is_open(now)
        && tended.unless_failed(id, load_round(stock, ledger, round, now).await) == Some(Loading::Loaded)
    {
        tracing::warn!(sale_id = %id.sale, round = id.number.0, "Redis had lost the round");
        tended.rebuilt += 1;
    }
    tended.unless_failed(id, stock.of(round).amend(round).await);
    let until = Instant::now() + TEND_BUDGET / 2;
    // Concurrently: a lane that does not answer neither holds up the others nor hides their age.
    let each_lane = || stock.round_in(id, lanes).each_lane();
    tended.sent = vec![0; usize::from(lanes)];
    let sends =
        each_lane().zip(&mut tended.sent).map(|(lane, sent)| send_due(lane, orders, *send_again_after, until, sent));
    for sent in join_all(sends).await {
        tended.unless_failed(id, sent);
    }
    let held_since = join_all(each_lane().map(|lane| lane.held_since(usize::MAX))).await;
    let oldest = held_since.into_iter().filter_map(|since| tended.unless_failed(id, since).flatten()).min();
    tended.outbox_age_s = oldest.map_or(0, |since| now.since_ms(since) / 1000);
    // After what buyers wait for.
    if let Some(recorded) = recorded {
        tended.unless_failed(id, note_milestones(deps, round, recorded, now).await);
        let traffic = traffic::note(deps, round, recorded.traffic.get(id), now).await;
        tended.is_busy = tended.unless_failed(id, traffic) == Some(true);
    }
}

/// Records that a round has opened, sold out or ended since `recorded` was read. Its end is taken from the current
/// item, since somebody may have moved it since the listing.
async fn note_milestones(
    deps: &ReconciliationDeps,
    listed: &Round,
    recorded: &Recorded,
    now: EpochMs,
) -> Result<(), FulfilmentError> {
    let ReconciliationDeps { stock, ledger, .. } = deps;
    let fresh = NotedRound::new(listed);
    let noted = match recorded.noted.get(&listed.id) {
        Some(Some(noted)) => noted,
        // The reason is already in the log.
        Some(None) => return Ok(()),
        None => &fresh,
    };
    if !noted.milestones.wants(listed, now) {
        return Ok(());
    }
    // Without a lane that is short of units or unknown, the number of free units is unknown.
    let counters = stock.of(listed).partial_counters().await?.of_all();
    let counters = counters.filter(|counters| counters.short.is_none());
    let free = counters.map(|counters| counters.free());
    let observation = Observation { now, free, stopped: recorded.kill_switches.is_stopped(&listed.id.sale) };
    let mut found = noted.milestones.after(listed, observation);
    let mut round = listed.clone();
    if found.ended_at_ms.is_some() {
        let Some(last_written) = ledger.round(&listed.id).await? else { return Ok(()) };
        found = noted.milestones.after(&last_written, observation);
        round = last_written;
    }
    if found != noted.milestones && ledger.note_milestones(noted, &round, found.clone()).await? {
        tracing::info!(sale_id = %round.id.sale, round = round.id.number.0, ?found, "milestones noted");
    }
    Ok(())
}

/// Rounds that are not over, followed by the others.
fn by_urgency(published: &[Round], now: EpochMs) -> Vec<&Round> {
    let is_over = |round: &&Round| {
        let last_pay_by = round.terms.closes_at_ms.plus_s(round.terms.payment_window_s);
        now >= last_pay_by.plus_s(OVER_AFTER_S)
    };
    let (mut over, mut rest): (Vec<&Round>, Vec<&Round>) = begun(published, now).partition(is_over);
    rotate(&mut over, now);
    rotate(&mut rest, now);
    if now.0 / 60_000 % OVER_FIRST_EVERY == 0 { [over, rest].concat() } else { [rest, over].concat() }
}

/// Begins with another element each minute.
fn rotate<T>(list: &mut [T], now: EpochMs) {
    if !list.is_empty() {
        list.rotate_left(usize::try_from(now.0 / 60_000).unwrap_or_default() % list.len());
    }
}

/// Audits one round after the other, each with its own time budget, until the run's time is over.
async fn audit_all(deps: &ReconciliationDeps, rounds: &[&Round], began: Instant, summary: &mut ReconciliationSummary) {
    for (at, Round { id: round, terms, .. }) in rounds.iter().enumerate() {
        let left = deps.run_timeout.saturating_sub(began.elapsed());
        if left < AUDIT_BUDGET && at > 0 {
            summary.left = rounds.len() - at;
            tracing::info!(left = summary.left, "rounds left to later runs");
            return;
        }
        match timeout(AUDIT_BUDGET.min(left), repair_round(deps, round, terms.lanes, summary)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => failed(summary, round.sale.as_str(), &error),
            Err(late) => failed(summary, round.sale.as_str(), &late),
        }
    }
}

async fn repair_round(
    deps: &ReconciliationDeps,
    round: &RoundId,
    lanes: u16,
    summary: &mut ReconciliationSummary,
) -> Result<(), FulfilmentError> {
    let ReconciliationDeps { stock, ledger, .. } = deps;
    if let Err(error) = finish_transfers(stock.round_in(round, lanes)).await {
        failed(summary, round.sale.as_str(), &error);
    }
    for pass in 0..PASSES {
        let Some(listing) = list(stock, ledger, round, lanes).await? else { return Ok(()) };
        if pass == 0 {
            note_counts(&listing, summary);
        }
        note_complete(stock, &listing).await?;
        // The next pass gives back what one takes out of two lanes, and a further audit shows that no lane lacks any.
        if !repair_listed(deps, &listing, summary).await || lanes == 1 {
            break;
        }
    }
    Ok(())
}

/// Records where the units of a round are. Units of an unknown lane are in no place, but not lost.
fn note_counts(Listing { round, counts, unknown, .. }: &Listing, summary: &mut ReconciliationSummary) {
    if *unknown == UnknownLanes::default() {
        summary.rounds.insert(round.to_string(), *counts);
        return;
    }
    summary.oversold_at_least += counts.oversold;
    tracing::error!(sale_id = %round.sale, round = round.number.0, ?unknown, ?counts, "some lanes are not audited");
    // Whether lost lanes can be loaded again is recorded elsewhere.
    summary.failed += usize::from(unknown.away > 0);
}

/// Makes each repair of a listing, whatever becomes of the others. Returns whether units came back or left two lanes.
async fn repair_listed(deps: &ReconciliationDeps, listing: &Listing, summary: &mut ReconciliationSummary) -> bool {
    let (ReconciliationDeps { stock, ledger, .. }, round, mut gave) = (deps, &listing.round, false);
    for each in &listing.repairs {
        let repaired = match repair(stock, ledger, listing, each).await {
            Ok(repaired) => repaired,
            Err(error) => {
                failed(summary, round.sale.as_str(), &error);
                continue;
            }
        };
        gave |= matches!(repaired, Repaired::Restored | Repaired::Excluded);
        match repaired {
            Repaired::Adopted => summary.adopted += 1,
            Repaired::Released => summary.released += 1,
            Repaired::Restored => summary.restored += 1,
            Repaired::Excluded | Repaired::Nothing => {}
        }
        if repaired != Repaired::Nothing {
            // Units that no lane listed.
            let count = if let Repair::Restore { units } = each { units.len() } else { 1 };
            let each = (count <= MAX_LOGGED).then_some(each);
            tracing::warn!(sale_id = %round.sale, round = round.number.0, repair = ?each, count, ?repaired, "repaired");
        }
    }
    gave
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minute_begins_with_another() {
        let firsts = (0..4).map(|minute| {
            let mut list = ["a", "b", "c"];
            rotate(&mut list, EpochMs(minute * 60_000 + 59_999));
            list[0]
        });
        assert_eq!(firsts.collect::<Vec<_>>(), ["a", "b", "c", "a"]);
        rotate::<u8>(&mut [], EpochMs(60_000));
    }
}
