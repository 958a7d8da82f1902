//! Sales that are asked for far more than anybody expected, planned or not.

use context::{Context, ContextError};
use fulfilment::FulfilmentError;
use ledger::{NotedHeat, Steered};
use sale::{EpochMs, Heat, LogEntry, MAX_ISOLATED_REQUESTS_PER_S, Round};

use crate::Deps;

const ISOLATE_TO: &str = "ISOLATE_HOT_SALES_TO";
/// Names the isolation of a hot round in its log, so that it is made once, whoever else looks at the same time.
const LOG_KEY: &str = "hot";
/// What a process answers by itself, mostly. It costs Redis nothing, and a crowd that hears it is about to leave.
const COSTS_NOTHING: &str = "sold_out";

#[derive(Debug, thiserror::Error)]
#[error("{ISOLATE_TO} must be 1 to {MAX_ISOLATED_REQUESTS_PER_S}")]
struct InvalidRate;

/// The setting that has hot sales isolated; none if it is not given.
pub(crate) fn isolate_to(context: &Context) -> Result<Option<u32>, ContextError> {
    let Some(text) = context.settings().optional(ISOLATE_TO) else { return Ok(None) };
    let rate = text.parse().ok().filter(|rate| (1..=MAX_ISOLATED_REQUESTS_PER_S).contains(rate));
    rate.map(Some).ok_or_else(|| ContextError::Unusable { setting: ISOLATE_TO, source: Box::new(InvalidRate) })
}

/// Notes how much a round that is not over is asked for, and isolates it if it is hot and the deployment says so. Whether it is hot.
pub(crate) async fn note(
    deps: &Deps,
    round: &Round,
    noted: Option<&NotedHeat>,
    now: EpochMs,
) -> Result<bool, FulfilmentError> {
    if round.is_over(now) {
        return Ok(false);
    }
    let answers = deps.stock.round(&round.id).answers().await?;
    let asked = answers.iter().filter(|(code, _)| *code != COSTS_NOTHING).map(|(_, count)| count).sum();
    // Counted later than the run began.
    let counted_at = deps.clock.now();
    let heat = noted.map_or(Heat::first(asked, counted_at), |noted| {
        noted.heat.after(asked, counted_at, &round.terms.door)
    });
    let is_hot = heat.hot_since_ms.is_some();
    let mut isolated = noted.is_some_and(|noted| noted.isolated);
    if let (true, false, Some(limit)) = (is_hot, isolated, deps.isolate_hot_to) {
        if round.isolated_requests_per_s.is_none() {
            isolate(deps, round, limit, counted_at).await?;
        }
        isolated = true;
    }
    if deps.ledger.note_heat(round, noted, heat, isolated).await? && is_hot {
        let Heat { requests_per_s, .. } = heat;
        tracing::warn!(sale_id = %round.id.sale, round = round.id.number.0, requests_per_s, isolated, "a hot sale");
    }
    Ok(is_hot)
}

/// Isolates a round, unless an operator did, or it was isolated for its heat before: whoever undid that is obeyed.
async fn isolate(deps: &Deps, round: &Round, limit: u32, now: EpochMs) -> Result<(), FulfilmentError> {
    let request = LogEntry {
        key: LOG_KEY.to_owned(),
        action: "isolate".to_owned(),
        parameters: limit.to_string(),
        by: None,
        at_ms: Some(now),
    };
    let steered = deps.ledger.steer_round(&round.id, &request, |round, _| {
        if round.isolated_requests_per_s.is_some() { Ok(round) } else { round.isolate(Some(limit)) }
    });
    match steered.await? {
        Steered::Made(_) => {}
        other => tracing::info!(sale_id = %round.id.sale, ?other, "a hot sale is not isolated"),
    }
    Ok(())
}
