//! Loads rounds into Redis before they open. Takes no input: it reads the ledger and loads what is missing.

use std::time::Duration;

use context::{Context, ContextError};
use fulfilment::{FulfilmentError, Loading, WARMUP_LEAD_S, load_round};
use ledger::Ledger;
use runtime::Clock;
use serde::Serialize;
use stock::Stock;

/// The time limit of a run: a few seconds less than Lambda's 50 s, so that the summary is logged. The next run does
/// the rest.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// The clock.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings.
    ///
    /// # Errors
    /// If a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self { stock: context.stock()?, ledger: context.ledger()?, clock: context.clock() })
    }
}

/// What one run did.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rounds loaded by this run.
    pub loaded: usize,
    /// Rounds that were already loaded.
    pub present: usize,
    /// Rounds that open too late to be loaded yet.
    pub later: usize,
    /// Rounds that open soon or should be open, but wait for an operator to post their beacon.
    pub awaiting_beacon: usize,
    /// Rounds that could not be loaded; the log has the reasons.
    pub failed: usize,
}

/// Loads every round that is open or opens soon. A failure does not affect the other rounds.
///
/// # Errors
/// If the rounds cannot be read from the ledger, or if no round at all could be loaded.
pub async fn handle(deps: &Deps) -> Result<Summary, FulfilmentError> {
    let mut summary = Summary::default();
    match tokio::time::timeout(RUN_TIMEOUT, load_all(deps, &mut summary)).await {
        Ok(loaded) => loaded?,
        Err(_) if summary.loaded + summary.present == 0 => return Err(FulfilmentError::OutOfTime),
        Err(late) => {
            tracing::error!(
                error = &late as &dyn std::error::Error,
                ?summary,
                "out of time; the next run does the rest"
            );
            summary.failed += 1;
        }
    }
    Ok(summary)
}

async fn load_all(deps: &Deps, summary: &mut Summary) -> Result<(), FulfilmentError> {
    let now = deps.clock.now();
    let mut last_error = None;
    for round in deps.ledger.published_rounds(now).await? {
        if round.terms.first_opens_at_ms() > now.plus_s(WARMUP_LEAD_S) {
            summary.later += 1;
            continue;
        }
        match load_round(&deps.stock, &deps.ledger, &round, now).await {
            Ok(Loading::Loaded) => {
                tracing::info!(sale_id = %round.id.sale, round = round.id.number.0, total = round.terms.total, "loaded");
                summary.loaded += 1;
            }
            Ok(Loading::Present) => summary.present += 1,
            Ok(Loading::AwaitsBeacon) => {
                let drand_round = round.drand_round.map(|named| named.0);
                tracing::warn!(sale_id = %round.id.sale, round = round.id.number.0, drand_round, "awaits its beacon");
                summary.awaiting_beacon += 1;
            }
            Err(error) => {
                tracing::error!(sale_id = %round.id.sale, error = &error as &dyn std::error::Error, "not loaded");
                summary.failed += 1;
                last_error = Some(error);
            }
        }
    }
    match last_error {
        Some(error) if summary.loaded + summary.present == 0 => Err(error),
        _ => Ok(()),
    }
}
