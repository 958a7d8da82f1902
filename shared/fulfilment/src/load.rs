use std::collections::BTreeMap;

use ledger::Ledger;
use sale::{EpochMs, Round, UserId};
use stock::{RoundLoad, Stock, StockError};

use crate::error::FulfilmentError;

/// How long before its opening a round is loaded. Warmup runs every minute, so it has several tries.
pub const WARMUP_LEAD_S: u32 = 10 * 60;

/// What became of a round that was to be in Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    /// Redis has it now.
    Loaded,
    /// Redis had it before.
    Present,
    /// Its beacon is still to be posted, so nobody can have a unit yet.
    AwaitsBeacon,
}

/// Makes the keys of a round if Redis has none, as the ledger has it by now, from what the ledger says is taken and who is
/// denied. The table of its awards is kept, and the beacon that its awards need is posted, before anybody can have a unit.
///
/// Guards against: an edit that takes units away, since the round is marked as loaded first; an operator who pauses it or
/// adds units while it is made, whom Redis could not hear; a user who is denied or let in meanwhile, whom nobody could note
/// in it. So round and denials are read again once it is there.
///
/// # Errors
/// If a part does not answer. Can be repeated, and can run beside itself: the script keeps the first one's keys.
pub async fn load_round(
    stock: &Stock,
    ledger: &Ledger,
    read: &Round,
    now: EpochMs,
) -> Result<Loading, FulfilmentError> {
    let id = &read.id;
    let (round, lanes) = (stock.of(read), read.terms.lanes);
    let mark = async || if lanes > 1 { ledger.mark_dealt(id, now).await } else { ledger.mark_loaded(id, now).await };
    if round.is_loaded().await? {
        return Ok(Loading::Present);
    }
    // Before it is marked, so that as long as it waits its times can still be edited.
    if read.terms.allocation.opens_with_beacon() && ledger.beacon(id).await?.is_none() {
        return Ok(Loading::AwaitsBeacon);
    }
    // The version before marks nothing, and takes nothing away.
    let marked = mark().await?.unwrap_or_else(|| read.clone());
    ledger.keep_table(&marked).await?;
    let Round { terms, paused, version, dealt, .. } = marked;
    let dealt = dealt.unwrap_or(terms.total);
    let denied = ledger.denied(now).await?;
    let load = RoundLoad {
        terms,
        paused,
        version,
        epoch_ms: now,
        taken: ledger.guards(id).await?,
        denied: denied.iter().map(|denial| (denial.user.clone(), denial.until_ms)).collect(),
    };
    let loaded = if lanes > 1 { round.load_lanes(&load, dealt).await } else { round.load(&load).await };
    let loaded = match loaded {
        // Somebody else was quicker.
        Err(StockError::OnTheWay) if round.is_loaded().await? => false,
        loaded => loaded?,
    };
    if loaded {
        if let Some(since) = mark().await?.filter(|since| since.version != version) {
            round.amend(&since).await?;
        }
        let mut notes: BTreeMap<UserId, Option<EpochMs>> =
            denied.into_iter().map(|denial| (denial.user, None)).collect();
        notes.extend(ledger.denied(now).await?.into_iter().map(|denial| (denial.user, Some(denial.until_ms))));
        round.note_denials(&Vec::from_iter(notes)).await?;
    }
    Ok(if loaded { Loading::Loaded } else { Loading::Present })
}
