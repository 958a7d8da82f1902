//! Draws the winners of rounds that are over. Takes no input: it reads how far each draw is, and continues from there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use context::{Serving, serve_events};
use fulfilment::{DrawStands, FulfilmentError, WARMUP_LEAD_S, draw};
use futures::{StreamExt, stream};
use ledger::{Ledger, LedgerError};
use messaging::queue::{OrderBacklog, WinnerQueue};
use runtime::Clock;
use sale::{EpochMs, Round, RoundId};
use serde::Serialize;
use serde_json::Value;
use stock::Stock;
use tokio::time::timeout;

/// How long after its close every run finds a round. Its beacon may come later: one run an hour looks through all.
const LOOK_BACK_S: u32 = 31 * 24 * 60 * 60;
const ALL_EVERY_MINUTES: i64 = 60;
const READS_AT_ONCE: usize = 16;
/// The time limit of a run: a few seconds less than Lambda's 55 s, so that the summary is logged. The next run continues.
const RUN_TIMEOUT: Duration = Duration::from_secs(50);
/// The least time for one round: enough for a million entries at a few thousand writes a second, in a run or two.
const ROUND_BUDGET: Duration = Duration::from_secs(10);
/// No further prize is begun when less than this is left of a round's time, so that its progress can be saved.
const TO_NOTE: Duration = Duration::from_secs(2);
/// The longest search for rounds that cannot open without a beacon: what is left of the 55 s after the run.
const UNOPENED_TIMEOUT: Duration = Duration::from_secs(3);
/// A draw that is not done this many seconds after its round's end is late: Redis is being restored, or a step fails.
const LATE_AFTER_S: u32 = 30 * 60;

context::deps! {
    DrawDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub orders: OrderBacklog = context.order_backlog()?,
        pub winners: WinnerQueue = context.winner_queue()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(DrawDeps::new, async |deps: &DrawDeps, _: Value| Ok(handle(deps).await?))
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct DrawSummary {
    /// Draws that were not done when the run began, and their state.
    pub draws: BTreeMap<String, String>,
    pub drawn: usize,
    pub late: usize,
    /// Draws whose next step failed; the log has the reasons, and the next run tries again.
    pub failed: usize,
}

/// Moves every draw as far as it can go. Fails if the rounds cannot be read from the ledger.
pub async fn handle(deps: &DrawDeps) -> Result<DrawSummary, LedgerError> {
    let began = Instant::now();
    let mut summary = DrawSummary::default();
    let now = deps.clock.now();
    let recent = EpochMs(now.0 - i64::from(LOOK_BACK_S) * 1000);
    let mut rounds = undrawn(&deps.ledger, recent, now).await?;
    // Begins with another draw each minute, so that none uses up the time of the others.
    if !rounds.is_empty() {
        let minute = usize::try_from(now.0 / 60_000).unwrap_or_default();
        let first = minute % rounds.len();
        rounds.rotate_left(first);
    }
    for (at, round) in rounds.iter().enumerate() {
        let left = RUN_TIMEOUT.saturating_sub(began.elapsed());
        // Counting saves nothing for the next run, so the first draw may use all of the time.
        let others = u32::try_from(rounds.len() - at).unwrap_or(u32::MAX);
        let share = if at == 0 { left } else { (left / others).max(ROUND_BUDGET.min(left)) };
        note(&mut summary, round, draw_one(deps, round, share).await, deps.clock.now());
    }
    if now.0 / 60_000 % ALL_EVERY_MINUTES == 0 {
        draw_old(deps, &mut summary, began, recent).await;
    }
    note_unopened(deps, &mut summary, now).await;
    metrics::gauge!("DrawsLate").set(summary.late as f64);
    metrics::gauge!("DrawFailures").set(summary.failed as f64);
    tracing::info!(summary = serde_json::to_string(&summary).unwrap_or_default(), "draws");
    Ok(summary)
}

/// Rounds that closed between these times and have a draw that is not done.
async fn undrawn(ledger: &Ledger, since: EpochMs, until: EpochMs) -> Result<Vec<Round>, LedgerError> {
    let mut rounds = ledger.rounds_over(since, until).await?;
    rounds.retain(|round| round.terms.allocation.is_drawn_at_end());
    let draws =
        stream::iter(rounds).map(async |round: Round| Ok::<_, LedgerError>((ledger.draw(&round.id).await?, round)));
    let mut draws = draws.buffered(READS_AT_ONCE);
    let mut undrawn = Vec::new();
    while let Some(read) = draws.next().await {
        let (draw, round) = read?;
        // A completed draw must not use the others' time.
        undrawn.extend(draw.is_none_or(|draw| draw.drawn_at_ms.is_none()).then_some(round));
    }
    Ok(undrawn)
}

/// Draws rounds whose beacon came more than a month late, in the time that the others have left.
async fn draw_old(deps: &DrawDeps, summary: &mut DrawSummary, began: Instant, until: EpochMs) {
    let left = || RUN_TIMEOUT.saturating_sub(began.elapsed());
    let old = match timeout(left(), undrawn(&deps.ledger, EpochMs(0), until)).await {
        Ok(Ok(old)) => old,
        failed => {
            summary.failed += 1;
            tracing::error!(?failed, "cannot look through the rounds of more than a month ago");
            return;
        }
    };
    for round in &old {
        note(summary, round, draw_one(deps, round, left()).await, deps.clock.now());
    }
}

/// Counts as late the rounds that open soon or should be open, but wait for a beacon that nobody has posted.
async fn note_unopened(deps: &DrawDeps, summary: &mut DrawSummary, now: EpochMs) {
    let unopened = async {
        let mut unopened = Vec::new();
        for round in deps.ledger.published_rounds(now).await? {
            let is_due = round.terms.first_opens_at_ms() <= now.plus_s(WARMUP_LEAD_S);
            let opens_with_beacon = round.terms.allocation.opens_with_beacon();
            if is_due && opens_with_beacon && deps.ledger.beacon(&round.id).await?.is_none() {
                unopened.push(round.id);
            }
        }
        Ok::<_, LedgerError>(unopened)
    };
    match timeout(UNOPENED_TIMEOUT, unopened).await {
        Ok(Ok(unopened)) => {
            summary.late += unopened.len();
            let stands = |id: RoundId| (id.to_string(), format!("{:?}", DrawStands::AwaitingBeacon));
            summary.draws.extend(unopened.into_iter().map(stands));
        }
        failed => {
            summary.failed += 1;
            tracing::error!(?failed, "cannot find out which rounds wait for a beacon");
        }
    }
}

async fn draw_one(deps: &DrawDeps, round: &Round, share: Duration) -> Result<DrawStands, FulfilmentError> {
    let until = Instant::now() + share.saturating_sub(TO_NOTE);
    let work = draw(&deps.stock, &deps.ledger, &deps.orders, &deps.winners, &round.id, deps.clock, until);
    timeout(share, work).await.unwrap_or(Err(FulfilmentError::OutOfTime))
}

fn note(summary: &mut DrawSummary, round: &Round, stands: Result<DrawStands, FulfilmentError>, now: EpochMs) {
    let id = &round.id;
    let is_done = matches!(stands, Ok(DrawStands::Drawn));
    summary.drawn += usize::from(is_done);
    summary.late += usize::from(!is_done && now >= round.terms.closes_at_ms.plus_s(LATE_AFTER_S));
    let stands = stands.unwrap_or_else(|error| {
        summary.failed += 1;
        tracing::error!(sale_id = %id.sale, round = id.number.0, error = &error as &dyn std::error::Error, "not drawn");
        // It is where it was.
        DrawStands::Entering
    });
    summary.draws.insert(id.to_string(), format!("{stands:?}"));
}
