use ledger::Ledger;
use process::Snapshots;
use sale::{Claim, ClaimState, Entry, EpochMs, Order, ReservationId, Round, RoundId, UserId};
use stock::{Counters, Stock};

use crate::error::FulfilmentError;

/// How long after Redis was rebuilt a reservation that nobody knows is taken for one that may still become an order: longer
/// than its message takes, unless the ledger or the queue is away for as long. Then its buyer hears of it once it is made.
pub const SETTLING_MS: u64 = 15 * 60 * 1000;

/// Pages of a user's orders that are read for those of one round: each has twenty.
const MAX_PAGES: usize = 5;

/// Where a reservation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Redis has it and has not heard of an order. The ledger may have one that was written a moment ago.
    Queued(Claim),
    /// The ledger has it.
    Order(Order),
    /// Redis lost the round a moment ago, and the reservation, if it is one, is in the queue only: ask again.
    Settling,
    /// The user has no such reservation.
    Unknown,
}

/// Where a user's reservation stands. Another user's is unknown: who asks learns nothing from the difference.
///
/// # Errors
/// If a part does not answer.
pub async fn status(
    stock: &Stock,
    ledger: &Ledger,
    snapshots: &Snapshots,
    id: &ReservationId,
    user: &UserId,
    now: EpochMs,
) -> Result<Status, FulfilmentError> {
    // Redis first: while a round is being sold out, most who ask are queued, and cost the ledger nothing.
    let lanes = snapshots.lanes_of(&id.round.sale);
    let mut found = stock.round_in(&id.round, lanes.unwrap_or(1)).find(id.uuid, user).await;
    if let Ok(Some(Entry { claim, state: ClaimState::Held })) = found {
        return Ok(Status::Queued(claim));
    }
    let of_order = |order: Order| if order.claim.user == *user { Status::Order(order) } else { Status::Unknown };
    if let Some(order) = ledger.order(id).await? {
        return Ok(of_order(order));
    }
    if lanes.is_none() && matches!(found, Ok(None)) {
        // This process has not read of the sale, which may have several lanes.
        let lanes = lanes_of(ledger, snapshots, &id.round).await?;
        if lanes > 1 {
            found = stock.round_in(&id.round, lanes).find(id.uuid, user).await;
        }
        match found {
            Ok(Some(Entry { claim, state: ClaimState::Held })) => return Ok(Status::Queued(claim)),
            // Ordered since the ledger was read, or ended.
            Ok(Some(_)) => return Ok(ledger.order(id).await?.map_or(Status::Unknown, of_order)),
            _ => {}
        }
    }
    match found? {
        Some(_) => Ok(Status::Unknown),
        None => {
            let known = snapshots.now().await?;
            // The sale may have been published, or come to its round, since its last reading.
            let known = if known.latest_round(&id.round).is_none() { snapshots.lately().await? } else { known };
            match known.latest_round(&id.round) {
                Some(round) if round.id == id.round && is_settling(stock, round, user, now).await? => {
                    Ok(Status::Settling)
                }
                _ => Ok(Status::Unknown),
            }
        }
    }
}

/// How many lanes a round has that this process has not read of: as its sale's published rounds have, or as the ledger has it.
async fn lanes_of(ledger: &Ledger, snapshots: &Snapshots, round: &RoundId) -> Result<u16, FulfilmentError> {
    // If it cannot be read, the round itself may still be.
    let read = snapshots.now().await;
    if let Some(lanes) = snapshots.lanes_of(&round.sale) {
        return Ok(lanes);
    }
    match ledger.round(round).await? {
        Some(round) => Ok(round.terms.lanes),
        None => Ok(read.map(|_| 1)?),
    }
}

/// A user's reservations and orders in a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Reservations of which Redis has not heard of an order.
    pub queued: Vec<Claim>,
    /// The orders of the others, those that ended among them.
    pub orders: Vec<Order>,
    /// Whether Redis lost the user's part of the round a moment ago, so that more may come.
    pub settling: bool,
}

/// Finds a user's reservations and orders in a sale's latest round.
///
/// # Errors
/// If a part does not answer.
pub async fn standing(
    stock: &Stock,
    ledger: &Ledger,
    round: &Round,
    user: &UserId,
    now: EpochMs,
) -> Result<Standing, FulfilmentError> {
    let entries = stock.of(round).entries_of(user).await?;
    let (held, others): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.state == ClaimState::Held);
    let queued: Vec<Claim> = held.into_iter().map(|entry| entry.claim).collect();
    let live = queued.len() + others.iter().filter(|entry| entry.state == ClaimState::Ordered).count();
    // Whoever has as many as may be has nothing that could be missing.
    let is_missing = live < usize::from(round.terms.per_user_limit);
    let counters = if is_missing { stock.of(round).counters_at_home(user).await? } else { None };
    let is_lost = is_missing && counters.is_none() && now >= round.terms.first_opens_at_ms();
    let settling = is_missing && settles(round, counters.as_ref(), now);
    let orders = if is_lost || settling {
        orders_in(ledger, round, user).await?
    } else {
        let ids: Vec<ReservationId> = others.into_iter().map(|entry| entry.claim.id).collect();
        if ids.is_empty() { Vec::new() } else { ledger.orders(&ids).await? }
    };
    Ok(Standing { queued, orders, settling })
}

/// A user's orders in a round, as far as the newest pages go.
async fn orders_in(ledger: &Ledger, round: &Round, user: &UserId) -> Result<Vec<Order>, FulfilmentError> {
    let (mut orders, mut after) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = ledger.orders_of(user, after).await?;
        let is_before = page.orders.last().is_none_or(|last| last.created_at_ms < round.terms.first_opens_at_ms());
        orders.extend(page.orders.into_iter().filter(|order| order.claim.id.round == round.id));
        after = page.next;
        if is_before || after.is_none() {
            break;
        }
    }
    Ok(orders)
}

/// Whether Redis has lost what a user had in a sale's latest round, or had until a moment ago. One that is lost after its close is not
/// made again.
async fn is_settling(stock: &Stock, round: &Round, user: &UserId, now: EpochMs) -> Result<bool, FulfilmentError> {
    Ok(settles(round, stock.of(round).counters_at_home(user).await?.as_ref(), now))
}

fn settles(round: &Round, counters: Option<&Counters>, now: EpochMs) -> bool {
    let (opens_at, closes_at) = (round.terms.first_opens_at_ms(), round.terms.closes_at_ms);
    match counters {
        // What was never loaded is not lost.
        None if round.awaits_beacon() => false,
        None => now >= opens_at && now.since_ms(closes_at) < SETTLING_MS,
        Some(counters) => restored_at(round, counters).is_some_and(|at| now.since_ms(at) < SETTLING_MS),
    }
}

/// When the keys of a round were made that Redis had lost since somebody could reserve. None if they are the first.
pub(crate) fn restored_at(round: &Round, counters: &Counters) -> Option<EpochMs> {
    let is_first = Some(counters.epoch_ms) == round.loaded_at_ms;
    Some(counters.epoch_ms).filter(|made_at| !is_first && *made_at > round.terms.first_opens_at_ms())
}
