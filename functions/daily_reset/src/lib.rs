//! Begins the next round of recurring sales once the last one is over. Takes no input: it reads the ledger. A new round
//! has its own keys, guards and messages, so yesterday's late messages cannot touch today's stock.

use std::time::Duration;

use context::{Serving, serve_events};
use ledger::{Begun, Ledger, LedgerError};
use runtime::Clock;
use sale::{EpochMs, SaleId, latest_rounds};
use serde::Serialize;
use serde_json::Value;

/// How long after its close a round is still found: long enough to catch up after a month without runs.
const LOOK_BACK_S: u32 = 31 * 24 * 60 * 60;

/// The time limit of a run: a few seconds less than Lambda's 50 s, for the summary. The next run does the rest.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(45);

context::deps! {
    DailyResetDeps(context) {
        pub ledger: Ledger = context.ledger()?,
        pub clock: Clock = context.clock(),
        pub run_timeout: Duration = RUN_TIMEOUT,
    }
}

pub fn run() -> Serving {
    serve_events(DailyResetDeps::new, async |deps: &DailyResetDeps, _: Value| Ok(handle(deps).await?))
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct DailyResetSummary {
    pub begun: usize,
    /// Sales whose next round could not be begun; the log has the reasons, and the next run tries again.
    pub failed: usize,
}

/// Moves every recurring sale whose round is over to its next round. Fails if the sales cannot be read from the ledger.
pub async fn handle(deps: &DailyResetDeps) -> Result<DailyResetSummary, LedgerError> {
    let mut summary = DailyResetSummary::default();
    match tokio::time::timeout(deps.run_timeout, begin_all(deps, &mut summary)).await {
        Ok(begun) => begun?,
        Err(late) => {
            let error = &late as &dyn std::error::Error;
            tracing::error!(error, ?summary, "out of time; the next run does the rest");
            summary.failed += 1;
        }
    }
    Ok(summary)
}

async fn begin_all(deps: &DailyResetDeps, summary: &mut DailyResetSummary) -> Result<(), LedgerError> {
    let now = deps.clock.now();
    let since = EpochMs(now.0 - i64::from(LOOK_BACK_S) * 1000);
    let over = latest_rounds(deps.ledger.rounds_over(since, now).await?);
    let sales: Vec<SaleId> = over.keys().cloned().collect();
    let offers = deps.ledger.offers(&sales).await?.into_iter();
    for offer in offers.filter(|offer| offer.recurrence.is_some()) {
        let latest = offer.latest_round_id();
        // The sale may already be in another round, which is not over.
        if over.get(&offer.id).is_none_or(|over| over.id != latest) {
            continue;
        }
        match deps.ledger.begin_next(&latest, now).await {
            Ok(Begun::Now(next)) => {
                tracing::info!(sale_id = %offer.id, round = next.id.number.0, opens_at = %next.terms.opens_at_ms, "next round");
                summary.begun += 1;
            }
            Ok(Begun::Not) => {}
            Ok(Begun::NeverAgain) => {
                tracing::error!(sale_id = %offer.id, "the recurrence has no next window");
                summary.failed += 1;
            }
            Err(error) => {
                tracing::error!(sale_id = %offer.id, error = &error as &dyn std::error::Error, "no next round");
                summary.failed += 1;
            }
        }
    }
    Ok(())
}
