//! Sales that get far more requests than anybody expected, planned or not.

use fulfilment::FulfilmentError;
use ledger::{NotedTraffic, UpdateOutcome};
use sale::{EpochMs, MAX_THROTTLE_REQUESTS_PER_S, Refusal, Round, Terms, Traffic, throttle_of_busy};

use crate::deps::ReconciliationDeps;

/// Counts older than this, in milliseconds, lead to no limit.
const MOST_AGE_MS: u64 = 60_000;
/// The answer that processes mostly give from memory. It costs Redis nothing, and whoever gets it is about to leave.
const COSTS_NOTHING: &str = "sold_out";

/// Records a running round's requests, and throttles a busy one if the deployment says so. Returns whether it is busy.
pub(crate) async fn note(
    deps: &ReconciliationDeps,
    round: &Round,
    noted: Option<&NotedTraffic>,
    now: EpochMs,
) -> Result<bool, FulfilmentError> {
    if round.is_over(now) {
        return Ok(false);
    }
    // Over all lanes: a lane that comes back after an outage would look like a crowd.
    let answers = deps.stock.of(round).answers().await?;
    let asked = answers.iter().filter(|(code, _)| *code != COSTS_NOTHING).map(|(_, count)| count).sum();
    // Counted after the run began.
    let counted_at = deps.clock.now();
    let Terms { door, lanes, .. } = &round.terms;
    let traffic =
        noted.map_or(Traffic::first(asked, counted_at), |noted| noted.traffic.after(asked, counted_at, door, *lanes));
    let is_busy = traffic.busy_since_ms.is_some();
    let mut throttled = noted.is_some_and(|noted| noted.throttled);
    let mut failed = None;
    if let (true, false, Some(limit)) = (is_busy, throttled, deps.throttle_busy_to) {
        match throttle(deps, round, limit, counted_at).await {
            Ok(is_done) => throttled = is_done,
            // The measurement is recorded all the same.
            Err(error) => failed = Some(error),
        }
    }
    if deps.ledger.note_traffic(round, noted, traffic, throttled).await? && is_busy {
        let Traffic { requests_per_s, .. } = traffic;
        tracing::warn!(sale_id = %round.id.sale, round = round.id.number.0, requests_per_s, throttled, "a busy sale");
    }
    failed.map_or(Ok(is_busy), Err)
}

/// Limits a round to this rate, or its planned one if higher, unless an operator set or
/// lifted one. Returns whether it is limited.
async fn throttle(
    deps: &ReconciliationDeps,
    round: &Round,
    limit: u32,
    counted_at: EpochMs,
) -> Result<bool, FulfilmentError> {
    if round.throttle_requests_per_s.is_some() {
        return Ok(true);
    }
    let limit = limit.max(round.terms.door.planned_requests_per_s.unwrap_or_default()).min(MAX_THROTTLE_REQUESTS_PER_S);
    let request = throttle_of_busy(round.id.number, limit, counted_at);
    let outcome = deps.ledger.update_round(&round.id, &request, |found, _| {
        let now = deps.clock.now();
        // An operator was faster, or this run was held up.
        if found.throttle_requests_per_s.is_some() || now.since_ms(counted_at) > MOST_AGE_MS {
            return Err(Refusal::Changed(found.version));
        }
        if found.is_over(now) { Err(Refusal::Over) } else { found.throttle(Some(limit)) }
    });
    let outcome = outcome.await?;
    if !matches!(outcome, UpdateOutcome::Made(_)) {
        tracing::info!(sale_id = %round.id.sale, ?outcome, "a busy sale is not limited");
    }
    Ok(matches!(outcome, UpdateOutcome::Made(_)))
}
