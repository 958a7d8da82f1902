//! Finds where Redis and the ledger disagree, and repairs it. Listing and repairing are separate: what was listed may
//! have changed by the time it is repaired, so every repair reads the ledger again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use ledger::Ledger;
use messaging::queue::{OrderMessage, OrderQueue};
use sale::audit::{Audit, MAX_DISCREPANCIES, Repair};
use sale::{EpochMs, ReservationId, RoundId, Unit};
use serde::Serialize;
use stock::{Counters, RoundStock, Stock};

use crate::apply::{PROMPT_MS, apply_to_stock, ended_unpaid};
use crate::audit::{AsItIs, MOST_SUSPECTS, UnitCounts, UnknownLanes, audit_view, recheck};
use crate::error::Result;
use crate::expire::{Expire, expire};

/// How long after it was made a held reservation without an order is sent again, and again after as long. The order
/// queue's own retries take 45 s, so in less than a minute most messages would be sent in vain.
pub const SEND_AGAIN_AFTER: Duration = Duration::from_secs(60);
// Reconciliation may resend for a client that never got its answer.
const _: () = assert!(PROMPT_MS < SEND_AGAIN_AFTER.as_millis() as u64);
/// How many elements of the outbox a call of the script reads at most: keeps it to about a millisecond.
const DUE_PER_CALL: usize = 500;
const AT_ONCE: usize = 16;
/// How long giving units back is tried, each time after another look at Redis: in a sale to which units come back all the
/// time, one may move during a look. The other repairs of the round wait meanwhile.
const RESTORE_FOR: Duration = Duration::from_secs(3);
/// An order that is overdue by this many seconds has lost its expiry message.
const OVERDUE_AFTER_S: u32 = 60;

#[derive(Debug, Clone)]
pub struct Listing {
    pub round: RoundId,
    pub lanes: u16,
    pub counters: Counters,
    /// How many units are where; wrong are those that a second look found in the same places.
    pub counts: UnitCounts,
    pub repairs: Vec<Repair>,
    /// Whether nothing moved while it was read, and no unit is in no place.
    pub lacks_nothing: bool,
    /// The lanes that could not be read. Their units count as in no place.
    pub unknown: UnknownLanes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repaired {
    Adopted,
    Released,
    /// A unit that was in no place can be handed out again.
    Restored,
    /// Units that two lanes had are in neither, until they are restored.
    Excluded,
    Nothing,
}

/// Sends again the messages of one lane's reservations that no order has confirmed `after` they were made, and again at
/// doubling ages. Continues until none is due, all were looked at once, or `until` has come. Adds the number of sent
/// messages to `sent`, also before an error. What was claimed with one that is not sent is due again.
pub async fn send_due(
    lane: RoundStock<'_>,
    orders: &OrderQueue,
    after: Duration,
    until: Instant,
    sent: &mut usize,
) -> Result<()> {
    let (mut left, mut sent_of) = (None, None);
    loop {
        let most = left.map_or(DUE_PER_CALL, |left: usize| left.min(DUE_PER_CALL));
        let due = lane.due(most, after, sent_of.take()).await?;
        if !due.reservations.is_empty() {
            sent_of = Some(due.due_at_ms);
        }
        let sends = due.reservations.into_iter().map(|reservation| OrderMessage::new(reservation, None));
        let mut sends =
            stream::iter(sends).map(|message| async move { orders.send(&message).await }).buffer_unordered(AT_ONCE);
        let mut failed = None;
        while let Some(done) = sends.next().await {
            match done {
                Ok(()) => *sent += 1,
                // One may be what the breaker lets through, to see whether the queue is back: the others fail at once, and it is
                // not to be dropped with them.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        let rest = left.unwrap_or(due.length).saturating_sub(due.read);
        if due.read < most || rest == 0 || Instant::now() >= until {
            if sent_of.is_some() {
                lane.due(0, after, sent_of).await?;
            }
            return Ok(());
        }
        left = Some(rest);
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overdue {
    pub expired: usize,
    pub failed: usize,
}

/// Expires orders whose payment window is over and whose expiry message must be lost; a failure does not affect the
/// others. Records in `overdue` what it did, also before an error.
pub async fn expire_overdue(stock: &Stock, ledger: &Ledger, now: EpochMs, overdue: &mut Overdue) -> Result<()> {
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
                tracing::error!(%id, error = &error as &dyn std::error::Error, "an overdue order could not be expired");
            }
        }
    }
    Ok(())
}

pub async fn list(stock: &Stock, ledger: &Ledger, round: &RoundId, lanes: u16) -> Result<Option<Listing>> {
    let view = stock.round_in(round, lanes).view_of_reachable().await?;
    // A round that Redis has is younger than any of its guards.
    let first = audit_view(view, ledger, round, EpochMs(0), MOST_SUSPECTS).await?;
    let Some(mut first) = first else { return Ok(None) };
    let mut counts = UnitCounts::from(&first.audit);
    if !first.audit.discrepancies.is_empty()
        && first.unknown == UnknownLanes::default()
        && let Some(lasting) = recheck(stock, ledger, round, lanes, &mut first).await?
    {
        counts = lasting;
    }
    let AsItIs { audit: Audit { repairs, .. }, counters, lacks_nothing, unknown, .. } = first;
    Ok(Some(Listing { round: round.clone(), lanes, counters, counts, repairs, lacks_nothing, unknown }))
}

/// Finishes transfers between lanes that a process left half done; a failure does not affect the others. Returns how
/// many were open. Can be repeated, and can run concurrently with the processes that began them.
pub async fn finish_transfers(round: RoundStock<'_>) -> Result<usize> {
    let open = round.open_transfers().await?;
    let mut failed = None;
    for transfer in &open {
        if let Err(error) = round.finish(transfer).await {
            failed = Some(error);
        }
    }
    failed.map_or(Ok(open.len()), |error| Err(error.into()))
}

/// Records that no lane of a round lacks units that it had before Redis lost it, if the listing shows it.
pub async fn note_complete(stock: &Stock, listing: &Listing) -> Result<()> {
    if listing.lacks_nothing && listing.counters.short.is_some() {
        stock.round_in(&listing.round, listing.lanes).note_complete(&listing.counters).await?;
        tracing::info!(sale_id = %listing.round.sale, "no lane lacks units any more");
    }
    Ok(())
}

/// Makes one repair of a listing, if the ledger still requires it.
///
/// Guards against everything that happened since the listing: an order that was written, ended or given another unit.
/// Two runs adopt and release once, and a unit is only restored if none has moved since the listing.
pub async fn repair(stock: &Stock, ledger: &Ledger, listing: &Listing, repair: &Repair) -> Result<Repaired> {
    match repair {
        Repair::Adopt { id } => adopt(stock, ledger, id).await,
        Repair::Release { id, unit } => release(stock, ledger, id, *unit).await,
        Repair::Restore { units } => restore(stock, ledger, listing, units).await,
        Repair::Exclude { units } => {
            stock.round_in(&listing.round, listing.lanes).exclude(units, &listing.counters).await?;
            Ok(Repaired::Excluded)
        }
        // Done before listing: only rounds that Redis has are listed.
        Repair::Rebuild {} => Ok(Repaired::Nothing),
    }
}

async fn restore(stock: &Stock, ledger: &Ledger, listing: &Listing, units: &[Unit]) -> Result<Repaired> {
    let Listing { round, lanes, counters, .. } = listing;
    let stock = stock.round_in(round, *lanes);
    let (mut units, mut counters, until) = (units.to_vec(), counters.clone(), Instant::now() + RESTORE_FOR);
    loop {
        // A unit that has a guard, which the index did not show, is adopted by the next run. Of a lane that was lost there are
        // too many to read each; as in loading a round, the index says what is taken.
        let is_lane = units.len() > MAX_DISCREPANCIES;
        let guards = if is_lane { ledger.guards(round).await? } else { ledger.guards_of(round, &units).await? };
        let taken: HashSet<Unit> = guards.into_iter().map(|guard| guard.unit).collect();
        units.retain(|unit| !taken.contains(unit));
        if units.is_empty() && !counters.is_miscounted() {
            return Ok(Repaired::Nothing);
        }
        if stock.restore(&units, &counters).await? {
            return Ok(Repaired::Restored);
        }
        // Something has moved since Redis was read.
        let view = loop {
            if Instant::now() >= until {
                return Ok(Repaired::Nothing);
            }
            let Some(view) = stock.view_of_reachable().await? else { return Ok(Repaired::Nothing) };
            if view.held_still {
                break view;
            }
        };
        units = view.in_no_place(units);
        counters = view.counters;
    }
}

async fn adopt(stock: &Stock, ledger: &Ledger, id: &ReservationId) -> Result<Repaired> {
    let Some(order) = ledger.order(id).await? else { return Ok(Repaired::Nothing) };
    if !order.state.is_live() {
        apply_to_stock(stock, &order).await?;
        return Ok(Repaired::Nothing);
    }
    let adopted = stock.round(&id.round).adopt(&order.reservation).await?;
    Ok(if adopted { Repaired::Adopted } else { Repaired::Nothing })
}

async fn release(stock: &Stock, ledger: &Ledger, id: &ReservationId, unit: Unit) -> Result<Repaired> {
    let Some(order) = ledger.order(id).await? else { return Ok(Repaired::Nothing) };
    if order.state.is_live() {
        return adopt(stock, ledger, id).await;
    }
    let of_another = ledger.owner_of(&id.round, unit).await?.map(|_| unit);
    stock.round(&id.round).release(&order.reservation, of_another, ended_unpaid(&order)).await?;
    Ok(Repaired::Released)
}
