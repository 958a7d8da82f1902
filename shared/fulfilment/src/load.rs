use ledger::Ledger;
use sale::{EpochMs, HoldState, Sale};
use stock::{Hold, Loaded, RoundStock, Stock};

use crate::{FulfilmentError, LANE};

/// How long before its opening a round is loaded. Warmup runs every minute, so it has several tries.
pub const WARMUP_LEAD_S: u32 = 10 * 60;

/// Makes the keys of a sale's current round if Redis has none, from what the ledger says is taken.
///
/// # Errors
/// If a part does not answer. Can be repeated, and can run beside itself: the script keeps the first one's keys.
pub async fn load_round(stock: &Stock, ledger: &Ledger, sale: &Sale, now: EpochMs) -> Result<Loaded, FulfilmentError> {
    if stock.is_loaded(&sale.id, sale.round, LANE).await? {
        return Ok(Loaded::Present);
    }
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
    };
    Ok(stock.load(&round).await?)
}
