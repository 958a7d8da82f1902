//! Loads rounds into Redis: on a schedule what opens soon or is missing, and at once an open round that buyers miss. A
//! message only says which round to look at; the ledger says whether to load it.

use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Serving, serve_events};
use fulfilment::{FulfilmentError, Loading, WARMUP_LEAD_S, load_round};
use ledger::Ledger;
use messaging::queue::RebuildMessage;
use runtime::{Clock, MessageError, each_message};
use sale::{EpochMs, Round};
use serde::Serialize;
use serde_json::{Value, from_value, to_value};
use stock::Stock;

/// The time limit of a run: a few seconds less than Lambda's 50 s, for the summary. The next run does the rest.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(45);

context::deps! {
    WarmupDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub clock: Clock = context.clock(),
        pub run_timeout: Duration = RUN_TIMEOUT,
    }
}

pub fn run() -> Serving {
    serve_events(WarmupDeps::new, async |deps: &WarmupDeps, event: Value| {
        // The schedule's event has no records.
        if event.get("Records").is_some() {
            return Ok(to_value(rebuild(deps, from_value(event)?).await)?);
        }
        Ok(to_value(handle(deps).await?)?)
    })
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct WarmupSummary {
    pub loaded: usize,
    /// Rounds that were already loaded, or that another run is loading.
    pub present: usize,
    pub later: usize,
    /// Rounds that open soon or should be open, but wait for an operator to post their beacon.
    pub awaiting_beacon: usize,
    /// Rounds that could not be loaded; the log has the reasons.
    pub failed: usize,
}

/// Loads every round that is open or opens soon. A failure does not affect the other rounds. Fails if the rounds cannot
/// be read from the ledger, or if no round at all could be loaded.
pub async fn handle(deps: &WarmupDeps) -> Result<WarmupSummary, FulfilmentError> {
    let mut summary = WarmupSummary::default();
    match tokio::time::timeout(deps.run_timeout, load_all(deps, &mut summary)).await {
        Ok(loaded) => loaded?,
        Err(_) if summary.loaded + summary.present == 0 => return Err(FulfilmentError::OutOfTime),
        Err(late) => {
            let error = &late as &dyn std::error::Error;
            tracing::error!(error, ?summary, "out of time; the next run does the rest");
            summary.failed += 1;
        }
    }
    Ok(summary)
}

/// Loads the rounds that buyers miss. No message comes back: buyers send more, and the next scheduled run looks anyway.
pub async fn rebuild(deps: &WarmupDeps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |body| rebuild_one(deps, body), |_| async {}).await;
    SqsBatchResponse::default()
}

/// A message that is late, repeated or about nothing costs two reads.
async fn rebuild_one(deps: &WarmupDeps, body: String) -> Result<(), MessageError> {
    let (id, now) = (RebuildMessage::parse(&body)?.round_id(), deps.clock.now());
    let round = deps.ledger.round(&id).await?;
    if let Some(round) = round.filter(|round| round.is_running(now)) {
        load(deps, &round, now).await?;
    }
    Ok(())
}

/// Loads a round, and counts it if Redis had lost it.
async fn load(deps: &WarmupDeps, round: &Round, now: EpochMs) -> Result<Loading, FulfilmentError> {
    let loading = load_round(&deps.stock, &deps.ledger, round, now).await?;
    if loading == Loading::Loaded {
        let was_lost = round.loaded_at_ms.is_some() && round.is_open(now);
        if was_lost {
            metrics::counter!("RoundsRebuilt").increment(1);
        }
        let (number, total) = (round.id.number.0, round.terms.total);
        tracing::info!(sale_id = %round.id.sale, round = number, total, was_lost, "loaded");
    }
    Ok(loading)
}

async fn load_all(deps: &WarmupDeps, summary: &mut WarmupSummary) -> Result<(), FulfilmentError> {
    let now = deps.clock.now();
    let mut last_error = None;
    for round in deps.ledger.published_rounds(now).await? {
        if round.terms.first_opens_at_ms() > now.plus_s(WARMUP_LEAD_S) {
            summary.later += 1;
            continue;
        }
        match load(deps, &round, now).await {
            Ok(Loading::Loaded) => summary.loaded += 1,
            Ok(Loading::Present | Loading::Underway) => summary.present += 1,
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
