use std::collections::BTreeMap;
use std::time::Duration;

use ledger::Ledger;
use sale::{EpochMs, Round, UserId};
use stock::{RoundLoad, Stock, StockError};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::error::{FulfilmentError, Result};

/// How long before its opening a round is loaded, in seconds. Warmup runs every minute, so it has several attempts.
pub const WARMUP_LEAD_S: u32 = 10 * 60;

/// For how long nobody else loads a round, unless this is renewed: what a loader that dies costs its buyers.
const LOADS_FOR_S: u32 = 3;
const RENEWED_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    Loaded,
    Present,
    /// Somebody else is loading it, or died while doing so a moment ago.
    Underway,
    /// Its beacon has not been posted, so nobody can have a unit yet.
    AwaitsBeacon,
}

/// Creates a round's keys if Redis has none, from the round, its taken units and the blocks in the ledger. Before
/// anybody can have a unit, the table of its awards is written, and the beacon that they need must be posted.
///
/// Guards against: an edit that removes units, since the round is first marked as loaded; an operator who pauses the
/// round or adds units while it is being loaded, which Redis could not get; and a user who is blocked or allowed
/// meanwhile, who could not get a note. So round and blocks are read again once it is loaded. Can run concurrently:
/// one call loads at a time, and beside one that was frozen the script keeps the first keys.
pub async fn load_round(stock: &Stock, ledger: &Ledger, read: &Round, now: EpochMs) -> Result<Loading> {
    let id = &read.id;
    if stock.of(read).is_loaded().await? {
        return Ok(Loading::Present);
    }
    // Before it is marked, so that its times can still be edited while it waits.
    if read.terms.allocation.opens_with_beacon() && ledger.beacon(id).await?.is_none() {
        return Ok(Loading::AwaitsBeacon);
    }
    let (loader, began) = (Uuid::new_v4(), Instant::now());
    let at = || EpochMs(now.0 + began.elapsed().as_millis() as i64);
    if !ledger.let_load(id, loader, now, now.plus_s(LOADS_FOR_S)).await? {
        return Ok(Loading::Underway);
    }
    let renewing = async {
        loop {
            sleep(RENEWED_EVERY).await;
            if !ledger.let_load(id, loader, at(), at().plus_s(LOADS_FOR_S)).await? {
                return Ok::<_, FulfilmentError>(Loading::Underway);
            }
        }
    };
    let loaded = tokio::select! {
        loaded = load_alone(stock, ledger, read, now) => loaded,
        overtaken = renewing => return overtaken,
    };
    if let Err(error) = ledger.let_load(id, loader, at(), EpochMs(0)).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "others wait until this loader's time ends");
    }
    loaded
}

async fn load_alone(stock: &Stock, ledger: &Ledger, read: &Round, now: EpochMs) -> Result<Loading> {
    let id = &read.id;
    let (round, lanes) = (stock.of(read), read.terms.lanes);
    let mark = async || if lanes > 1 { ledger.mark_dealt(id, now).await } else { ledger.mark_loaded(id, now).await };
    let marked = mark().await?.ok_or_else(|| FulfilmentError::UnknownSale(id.sale.clone()))?;
    ledger.keep_table(&marked).await?;
    let Round { terms, paused, version, dealt, .. } = marked;
    let dealt = dealt.unwrap_or(terms.total);
    let blocked = ledger.blocked(now).await?;
    let load = RoundLoad {
        terms,
        paused,
        version,
        epoch_ms: now,
        taken: ledger.guards(id).await?,
        blocked: blocked.iter().map(|block| (block.user.clone(), block.until_ms)).collect(),
    };
    let loaded = if lanes > 1 { round.load_lanes(&load, dealt).await } else { round.load(&load).await };
    let loaded = match loaded {
        // Another process was faster.
        Err(StockError::OnTheWay) if round.is_loaded().await? => false,
        loaded => loaded?,
    };
    if loaded {
        if let Some(since) = mark().await?.filter(|since| since.version != version) {
            round.amend(&since).await?;
        }
        let mut notes: BTreeMap<UserId, Option<EpochMs>> =
            blocked.into_iter().map(|block| (block.user, None)).collect();
        notes.extend(ledger.blocked(now).await?.into_iter().map(|block| (block.user, Some(block.until_ms))));
        round.note_blocks(&Vec::from_iter(notes)).await?;
    }
    Ok(if loaded { Loading::Loaded } else { Loading::Present })
}
