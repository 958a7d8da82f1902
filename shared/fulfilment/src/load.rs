use std::collections::BTreeMap;

use ledger::Ledger;
use sale::{EpochMs, HoldState, Sale, UserId};
use stock::{Hold, Loaded, RoundStock, Stock};

use crate::LANE;
use crate::error::FulfilmentError;

/// How long before its opening a round is loaded. Warmup runs every minute, so it has several tries.
pub const WARMUP_LEAD_S: u32 = 10 * 60;

/// Makes the keys of a sale's current round if Redis has none, from what the ledger says is taken and who is denied.
///
/// Guards against: a user who is denied or let in while the round is made, whom nobody could note in it. So the denials are
/// read again once it is there.
///
/// # Errors
/// If a part does not answer. Can be repeated, and can run beside itself: the script keeps the first one's keys.
pub async fn load_round(stock: &Stock, ledger: &Ledger, sale: &Sale, now: EpochMs) -> Result<Loaded, FulfilmentError> {
    if stock.is_loaded(&sale.id, sale.round, LANE).await? {
        return Ok(Loaded::Present);
    }
    let denied = ledger.denied(now).await?;
    let guards = ledger.guards(&sale.id, sale.round).await?;
    let taken = guards.into_iter().map(|guard| {
        let hold = Hold {
            uuid: guard.order_id.uuid,
            slot: guard.slot,
            state: HoldState::Ordered,
            unit: guard.unit,
            reserved_at_ms: guard.reserved_at_ms,
        };
        (guard.user, hold)
    });
    let round = RoundStock {
        sale: sale.id.clone(),
        round: sale.round,
        lane: LANE,
        terms: sale.terms.clone(),
        paused: sale.paused,
        version: sale.version,
        epoch_ms: now,
        taken: taken.collect(),
        denied: denied.iter().map(|denial| (denial.user.clone(), denial.until_ms)).collect(),
    };
    let loaded = stock.load(&round).await?;
    if loaded == Loaded::Now {
        let mut notes: BTreeMap<UserId, Option<EpochMs>> =
            denied.into_iter().map(|denial| (denial.user, None)).collect();
        notes.extend(ledger.denied(now).await?.into_iter().map(|denial| (denial.user, Some(denial.until_ms))));
        stock.note_denials(&sale.id, sale.round, LANE, &Vec::from_iter(notes)).await?;
    }
    Ok(loaded)
}
