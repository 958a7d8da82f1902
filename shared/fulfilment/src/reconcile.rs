//! Finding what Redis and the ledger disagree on, and repairing it. Listing and repairing are apart: whatever is listed
//! may have changed by the time it is repaired, so every repair asks the ledger again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use ledger::Ledger;
use queue::{OrderMessage, OrderQueue};
use sale::audit::{Audit, MAX_DISCREPANCIES, Repair};
use sale::{EpochMs, ReservationId, RoundId, Unit};
use serde::Serialize;
use stock::{Counters, RoundStock, Stock};

use crate::audit::{AsItIs, UnknownLanes, audit_as_it_is};
use crate::error::FulfilmentError;
use crate::expire::{Expire, expire};
use crate::settle::{ended_unpaid, settle_stock};

/// A held reservation without an order is sent again after so long, and again after as long. The order queue's own retries
/// take 45 s, so below a minute most messages that are sent again would be for nothing.
pub const SEND_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Elements of the outbox that one call of the script looks at: keeps it in the order of a millisecond.
const DUE_PER_CALL: usize = 500;
/// Messages sent, or orders ended, beside each other.
const AT_ONCE: usize = 16;
/// An order is expired by its own message; after so long that message is taken for lost.
const OVERDUE_AFTER_S: u32 = 60;

/// How many of what a run found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UnitCounts {
    /// Units that can be handed out.
    pub free: u32,
    /// Units of reservations without an order.
    pub held: u32,
    /// Units of live orders.
    pub ordered: u32,
    /// Units sold to two.
    pub oversold: u32,
    /// Units in no place.
    pub lost: u32,
    /// Units in two places.
    pub duplicated: u32,
}

impl From<&Audit> for UnitCounts {
    fn from(audit: &Audit) -> Self {
        let Audit { free, held, ordered, oversold, lost, duplicated, .. } = *audit;
        Self { free, held, ordered, oversold, lost, duplicated }
    }
}

/// What Redis and the ledger say of a round, and what to do about it.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The round.
    pub round: RoundId,
    /// How many lanes it has.
    pub lanes: u16,
    /// The counters that Redis had before anything else was read.
    pub counters: Counters,
    /// How many units are where.
    pub counts: UnitCounts,
    /// What to do.
    pub repairs: Vec<Repair>,
    /// Whether nothing moved while it was read, and no unit is in no place.
    pub lacks_nothing: bool,
    /// The lanes that are not in it. What they have is in no place here.
    pub unknown: UnknownLanes,
}

/// What became of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repaired {
    /// Redis knows an order that it had forgotten.
    Adopted,
    /// A reservation whose order has ended gave its unit back.
    Released,
    /// A unit that was in no place can be handed out again.
    Restored,
    /// Units that two lanes had are in neither, until they are restored.
    Excluded,
    /// There was nothing left to do.
    Nothing,
}

/// Sends the messages of one lane's claims again that no order has confirmed `after` they were made, and again at doubling ages. Goes on
/// until no other is due, every one was looked at once, or `until` has come. Adds to `sent` how many it sent, also before an
/// error.
///
/// # Errors
/// If a part does not answer; what was claimed and not sent is due again later.
pub async fn send_due(
    lane: RoundStock<'_>,
    orders: &OrderQueue,
    after: Duration,
    until: Instant,
    sent: &mut usize,
) -> Result<(), FulfilmentError> {
    let mut left = None;
    loop {
        let most = left.map_or(DUE_PER_CALL, |left: usize| left.min(DUE_PER_CALL));
        let due = lane.due(most, after).await?;
        let sends = due.claims.into_iter().map(|claim| OrderMessage::new(claim, None));
        let mut sends =
            stream::iter(sends).map(|message| async move { orders.send(&message).await }).buffer_unordered(AT_ONCE);
        while let Some(done) = sends.next().await {
            done?;
            *sent += 1;
        }
        let rest = left.unwrap_or(due.length).saturating_sub(due.looked);
        if due.looked < most || rest == 0 || Instant::now() >= until {
            return Ok(());
        }
        left = Some(rest);
    }
}

/// What became of overdue orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overdue {
    /// Ended.
    pub expired: usize,
    /// Could not be ended; the log has the reasons.
    pub failed: usize,
}

/// Ends orders whose payment window is over and whose expiry message must be lost, one whatever becomes of the others.
/// Notes in `overdue` what it did, also before an error.
///
/// # Errors
/// If the ledger does not say which orders these are.
pub async fn expire_overdue(
    stock: &Stock,
    ledger: &Ledger,
    now: EpochMs,
    overdue: &mut Overdue,
) -> Result<(), FulfilmentError> {
    let ids = ledger.overdue(EpochMs(now.0 - i64::from(OVERDUE_AFTER_S) * 1000)).await?;
    let mut ended = stream::iter(ids)
        .map(|id| async move {
            let ended = expire(stock, ledger, &id, now).await;
            (id, ended)
        })
        .buffer_unordered(AT_ONCE);
    while let Some((id, ended)) = ended.next().await {
        match ended {
            Ok(Expire::Expired(_)) => overdue.expired += 1,
            Ok(Expire::NotYet(_) | Expire::Ended(_)) => {}
            Err(error) => {
                overdue.failed += 1;
                tracing::error!(%id, error = &error as &dyn std::error::Error, "an overdue order is not expired");
            }
        }
    }
    Ok(())
}

/// What Redis and the ledger say of a round, if Redis has it.
///
/// # Errors
/// If a part does not answer.
pub async fn list(
    stock: &Stock,
    ledger: &Ledger,
    round: &RoundId,
    lanes: u16,
) -> Result<Option<Listing>, FulfilmentError> {
    let audit = audit_as_it_is(stock, ledger, round, lanes).await?;
    Ok(audit.map(|AsItIs { audit, counters, lacks_nothing, unknown, .. }| {
        let counts = UnitCounts::from(&audit);
        Listing { round: round.clone(), lanes, counters, counts, repairs: audit.repairs, lacks_nothing, unknown }
    }))
}

/// Finishes transfers between lanes that a process left half done, each whatever becomes of the others. How many were open.
///
/// # Errors
/// If Redis does not answer. Can be repeated, and beside the processes that began them.
pub async fn finish_transfers(round: RoundStock<'_>) -> Result<usize, FulfilmentError> {
    let open = round.open_transfers().await?;
    let mut failed = None;
    for transfer in &open {
        if let Err(error) = round.finish(transfer).await {
            failed = Some(error);
        }
    }
    failed.map_or(Ok(open.len()), |error| Err(error.into()))
}

/// Notes of a round's lanes that they lack no units which they had before Redis lost them, if the listing says so.
///
/// # Errors
/// If Redis does not answer. Can be repeated.
pub async fn note_complete(stock: &Stock, listing: &Listing) -> Result<(), FulfilmentError> {
    if listing.lacks_nothing && listing.counters.short.is_some() {
        stock.round_in(&listing.round, listing.lanes).note_complete(&listing.counters).await?;
        tracing::info!(sale_id = %listing.round.sale, "no lane lacks units any more");
    }
    Ok(())
}

/// Does one repair of a listing, if the ledger still asks for it.
///
/// Guards against everything that happened since the listing: an order that was made, ended or given another unit. Two
/// runs beside each other adopt and release the same once; and a unit is restored only if none has moved since the
/// listing, so never by both.
///
/// # Errors
/// If a part does not answer. Can be repeated.
pub async fn repair(
    stock: &Stock,
    ledger: &Ledger,
    listing: &Listing,
    repair: &Repair,
) -> Result<Repaired, FulfilmentError> {
    match repair {
        Repair::Adopt { id } => adopt(stock, ledger, id).await,
        Repair::Release { id, unit } => release(stock, ledger, id, *unit).await,
        Repair::Restore { units } => restore(stock, ledger, listing, units).await,
        Repair::Exclude { units } => {
            stock.round_in(&listing.round, listing.lanes).exclude(units, &listing.counters).await?;
            Ok(Repaired::Excluded)
        }
        // Done before anything is listed: only a round that Redis has is.
        Repair::Rebuild {} => Ok(Repaired::Nothing),
    }
}

async fn restore(
    stock: &Stock,
    ledger: &Ledger,
    listing: &Listing,
    units: &[Unit],
) -> Result<Repaired, FulfilmentError> {
    let Listing { round, lanes, counters, .. } = listing;
    let mut in_no_place = Vec::new();
    if units.len() > MAX_DISCREPANCIES {
        // What a lane had. As when a round is loaded, the index of guards says what is taken, and an order that is not in it yet
        // is adopted at the next run.
        let taken: HashSet<Unit> = ledger.guards(round).await?.into_iter().map(|guard| guard.unit).collect();
        in_no_place.extend(units.iter().filter(|unit| !taken.contains(unit)));
    } else {
        for unit in units {
            match ledger.owner_of(round, *unit).await? {
                // The index of guards lags behind: adopted at the next run.
                Some(_) => {}
                None => in_no_place.push(*unit),
            }
        }
    }
    let restored = stock.round_in(round, *lanes).restore(&in_no_place, counters).await?;
    Ok(if restored { Repaired::Restored } else { Repaired::Nothing })
}

async fn adopt(stock: &Stock, ledger: &Ledger, id: &ReservationId) -> Result<Repaired, FulfilmentError> {
    let Some(order) = ledger.order(id).await? else { return Ok(Repaired::Nothing) };
    if !order.state.is_live() {
        settle_stock(stock, &order).await?;
        return Ok(Repaired::Nothing);
    }
    let adopted = stock.round(&id.round).adopt(&order.claim).await?;
    Ok(if adopted { Repaired::Adopted } else { Repaired::Nothing })
}

async fn release(stock: &Stock, ledger: &Ledger, id: &ReservationId, unit: Unit) -> Result<Repaired, FulfilmentError> {
    let Some(order) = ledger.order(id).await? else { return Ok(Repaired::Nothing) };
    if order.state.is_live() {
        return adopt(stock, ledger, id).await;
    }
    let of_another = ledger.owner_of(&id.round, unit).await?.map(|_| unit);
    stock.round(&id.round).release(&order.claim, of_another, ended_unpaid(&order)).await?;
    Ok(Repaired::Released)
}
