//! Finds what Redis and the ledger disagree on, and repairs it. Takes no input: it reads the state. Every page that it
//! reads is bounded, and what is left waits for the next run, a minute later.

mod numbers;

use std::collections::BTreeMap;
use std::time::Duration;

use fulfilment::{
    FulfilmentError, Numbers, Repaired, expire_overdue, list, load_round, reconcile_denials, repair, send_due,
};
use ledger::Ledger;
use queue::OrderQueue;
use runtime::Clock;
use sale::{EpochMs, MAX_PAYMENT_WINDOW_S, Round, Sale};
use serde::Serialize;
use stock::{Loaded, Stock};

/// How long after its close a round is still looked at: until its last order can have expired, and an hour.
const LOOK_AFTER_CLOSE_S: u32 = MAX_PAYMENT_WINDOW_S + 60 * 60;

/// Longest run: a few seconds less than the 55 s after which Lambda ends it, so that it tells what it did. The rest waits
/// for the next run.
const RUN_TIMEOUT: Duration = Duration::from_secs(50);

/// What the function talks to.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// The order queue.
    pub orders: OrderQueue,
    /// How long a reservation waits for its order before its message is sent again.
    pub send_again_after: Duration,
    /// The time.
    pub clock: Clock,
}

/// What one run found and did.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Orders that were expired because their message must be lost.
    pub overdue: usize,
    /// Rounds that Redis had lost and has again.
    pub rebuilt: usize,
    /// Order messages that were sent again.
    pub sent: usize,
    /// Orders that Redis had forgotten.
    pub adopted: usize,
    /// Reservations that were released because their order has ended.
    pub released: usize,
    /// Repairs that gave back units which were in no place.
    pub restored: usize,
    /// How long the oldest reservation waits for its order, in seconds.
    pub outbox_age_s: u64,
    /// Steps that failed; the log has the reasons, and the next run tries again.
    pub failed: usize,
    /// Where the units of each round are, as found before any repair.
    pub rounds: BTreeMap<String, Numbers>,
}

/// Looks at everything once.
///
/// # Errors
/// If the ledger does not say which sales there are.
pub async fn handle(deps: &Deps) -> Result<Summary, FulfilmentError> {
    let mut summary = Summary::default();
    match tokio::time::timeout(RUN_TIMEOUT, reconcile(deps, &mut summary)).await {
        Ok(reconciled) => reconciled?,
        Err(late) => failed(&mut summary, "the rest is left to the next run", &late),
    }
    numbers::count(&summary);
    tracing::info!(summary = serde_json::to_string(&summary).unwrap_or_default(), "reconciled");
    Ok(summary)
}

async fn reconcile(deps: &Deps, summary: &mut Summary) -> Result<(), FulfilmentError> {
    let now = deps.clock.now();
    match expire_overdue(&deps.stock, &deps.ledger, now).await {
        Ok(overdue) => summary.overdue = overdue,
        Err(error) => failed(summary, "expire overdue orders", &error),
    }
    let since = EpochMs(now.0 - i64::from(LOOK_AFTER_CLOSE_S) * 1000);
    let sales = deps.ledger.published_sales(since).await?;
    if let Err(error) = reconcile_denials(&deps.stock, &deps.ledger, &sales, now).await {
        failed(summary, "denials", &error);
    }
    for sale in sales {
        if now < sale.terms.opens_at_ms && sale.round == Round(1) {
            continue;
        }
        if let Err(error) = look_at(deps, &sale, now, summary).await {
            failed(summary, sale.id.as_str(), &error);
        }
    }
    Ok(())
}

fn failed(summary: &mut Summary, what: &str, error: &(dyn std::error::Error + 'static)) {
    summary.failed += 1;
    tracing::error!(error, what, "not reconciled");
}

/// The current round, and the one before it, whose last orders may still be open.
async fn look_at(deps: &Deps, sale: &Sale, now: EpochMs, summary: &mut Summary) -> Result<(), FulfilmentError> {
    let is_open = now >= sale.terms.opens_at_ms && now < sale.terms.closes_at_ms;
    if is_open && load_round(&deps.stock, &deps.ledger, sale, now).await? == Loaded::Now {
        tracing::warn!(sale_id = %sale.id, round = sale.round.0, "Redis had lost the round");
        summary.rebuilt += 1;
    }
    deps.stock.amend(sale, fulfilment::LANE).await?;
    for round in [sale.round.0 - 1, sale.round.0].into_iter().filter(|round| *round > 0).map(Round) {
        let held_since = deps.stock.held_since(&sale.id, round, fulfilment::LANE).await?;
        summary.outbox_age_s = held_since.map_or(0, |since| now.since_ms(since) / 1000).max(summary.outbox_age_s);
        repair_round(deps, sale, round, summary).await?;
    }
    Ok(())
}

async fn repair_round(deps: &Deps, sale: &Sale, round: Round, summary: &mut Summary) -> Result<(), FulfilmentError> {
    let Deps { stock, ledger, orders, send_again_after, .. } = deps;
    summary.sent += send_due(stock, orders, &sale.id, round, *send_again_after).await?;
    let Some(listing) = list(stock, ledger, &sale.id, round).await? else { return Ok(()) };
    summary.rounds.insert(format!("{}.{round}", sale.id), listing.numbers);
    for each in &listing.repairs {
        let repaired = repair(stock, ledger, &listing, each).await?;
        match repaired {
            Repaired::Adopted => summary.adopted += 1,
            Repaired::Released => summary.released += 1,
            Repaired::Restored => summary.restored += 1,
            Repaired::Nothing => {}
        }
        if repaired != Repaired::Nothing {
            tracing::warn!(sale_id = %sale.id, round = round.0, repair = ?each, ?repaired, "repaired");
        }
    }
    Ok(())
}
