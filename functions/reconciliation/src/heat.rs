//! Sales that get far more requests than anybody expected, planned or not.

use fulfilment::FulfilmentError;
use ledger::{NotedHeat, Steered};
use sale::{EpochMs, Heat, MAX_ISOLATED_REQUESTS_PER_S, Refusal, Round, Terms, limit_of_hot};

use crate::deps::ReconciliationDeps;

/// Counts older than this, in milliseconds, lead to no limit.
const MOST_AGE_MS: u64 = 60_000;
/// The answer that processes mostly give from memory. It costs Redis nothing, and a crowd that gets it is about to
/// leave.
const COSTS_NOTHING: &str = "sold_out";

/// Records how many requests a running round gets, and isolates it if it is hot and the deployment says so. Returns
/// whether it is hot.
pub(crate) async fn note(
    deps: &ReconciliationDeps,
    round: &Round,
    noted: Option<&NotedHeat>,
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
    let heat = noted.map_or(Heat::first(asked, counted_at), |noted| noted.heat.after(asked, counted_at, door, *lanes));
    let is_hot = heat.hot_since_ms.is_some();
    let mut isolated = noted.is_some_and(|noted| noted.isolated);
    let mut failed = None;
    if let (true, false, Some(limit)) = (is_hot, isolated, deps.isolate_hot_to) {
        match isolate(deps, round, limit, counted_at).await {
            Ok(is_done) => isolated = is_done,
            // The measurement is recorded all the same.
            Err(error) => failed = Some(error),
        }
    }
    if deps.ledger.note_heat(round, noted, heat, isolated).await? && is_hot {
        let Heat { requests_per_s, .. } = heat;
        tracing::warn!(sale_id = %round.id.sale, round = round.id.number.0, requests_per_s, isolated, "a hot sale");
    }
    failed.map_or(Ok(is_hot), Err)
}

/// Limits a round to the given rate, but not below its planned rate. Returns whether it is limited, now or before. A
/// limit that an operator set or lifted stays as it is.
async fn isolate(
    deps: &ReconciliationDeps,
    round: &Round,
    limit: u32,
    counted_at: EpochMs,
) -> Result<bool, FulfilmentError> {
    if round.isolated_requests_per_s.is_some() {
        return Ok(true);
    }
    let planned = round.terms.door.planned_requests_per_s.unwrap_or_default();
    let limit = limit.max(planned).min(MAX_ISOLATED_REQUESTS_PER_S);
    let request = limit_of_hot(round.id.number, limit, counted_at);
    let steered = deps.ledger.steer_round(&round.id, &request, |found, _| {
        let now = deps.clock.now();
        // An operator was faster, or this run was held up.
        if found.isolated_requests_per_s.is_some() || now.since_ms(counted_at) > MOST_AGE_MS {
            return Err(Refusal::Changed(found.version));
        }
        if found.is_over(now) { Err(Refusal::Over) } else { found.isolate(Some(limit)) }
    });
    let steered = steered.await?;
    if !matches!(steered, Steered::Made(_)) {
        tracing::info!(sale_id = %round.id.sale, ?steered, "a hot sale is not limited");
    }
    Ok(matches!(steered, Steered::Made(_)))
}
