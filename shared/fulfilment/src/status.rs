use futures::future::BoxFuture;
use ledger::Ledger;
use process::Snapshots;
use sale::{EpochMs, Order, Reservation, ReservationId, ReservationState, Round, RoundId, StoredReservation, UserId};
use stock::{Counters, Stock};

use crate::error::Result;

/// How long after Redis was rebuilt an unknown reservation may still become an order, in milliseconds: longer than its
/// message takes, unless the ledger or the queue is unavailable for longer.
pub const RESTORING_MS: u64 = 15 * 60 * 1000;

/// How many pages of a user's orders are read to find those of one round, with twenty orders each.
const MAX_PAGES: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Redis has it and knows no order. The ledger may have one that was written a moment ago.
    Queued(Reservation),
    Order(Order),
    /// Redis lost the round a moment ago, and the reservation may only be in the queue: try again later.
    Restoring,
    Unknown,
}

/// The status of a user's reservation. Another user's is unknown, so the answer reveals nothing.
pub fn status<'a>(
    stock: &'a Stock,
    ledger: &'a Ledger,
    snapshots: &'a Snapshots,
    id: &'a ReservationId,
    user: &'a UserId,
    now: EpochMs,
) -> BoxFuture<'a, Result<Status>> {
    Box::pin(async move {
        // Redis first: while a round sells out, most polled reservations are queued, and cost no read of the ledger.
        let lanes = snapshots.lanes_of(&id.round.sale);
        let mut found = stock.round_in(&id.round, lanes.unwrap_or(1)).reservation(id.uuid, user).await;
        if let Ok(Some(StoredReservation { reservation, state: ReservationState::Held })) = found {
            return Ok(Status::Queued(reservation));
        }
        let of_order =
            |order: Order| if order.reservation.user == *user { Status::Order(order) } else { Status::Unknown };
        if let Some(order) = ledger.order(id).await? {
            return Ok(of_order(order));
        }
        if lanes.is_none() && matches!(found, Ok(None)) {
            // This process has not read the sale yet, which may have several lanes.
            let lanes = lanes_of(ledger, snapshots, &id.round).await?;
            if lanes > 1 {
                found = stock.round_in(&id.round, lanes).reservation(id.uuid, user).await;
            }
            match found {
                Ok(Some(StoredReservation { reservation, state: ReservationState::Held })) => {
                    return Ok(Status::Queued(reservation));
                }
                // It was ordered or ended since the ledger was read.
                Ok(Some(_)) => return Ok(ledger.order(id).await?.map_or(Status::Unknown, of_order)),
                _ => {}
            }
        }
        if found?.is_some() {
            return Ok(Status::Unknown);
        }
        let mut known = snapshots.of(&id.round.sale).await?;
        if known.latest_round(&id.round).is_none() {
            // The sale may have been published, or the round may have begun, since the last read.
            known = snapshots.lately(&id.round.sale).await?;
        }
        let latest = known.latest_round(&id.round).filter(|latest| latest.id == id.round);
        let Some(round) = latest else { return Ok(Status::Unknown) };
        let counters = stock.of(round).counters_at_home(user).await?;
        Ok(if is_being_restored(round, counters.as_ref(), now) { Status::Restoring } else { Status::Unknown })
    })
}

/// The number of lanes of a round that this process has not read: from its sale's published rounds, or from the ledger.
async fn lanes_of(ledger: &Ledger, snapshots: &Snapshots, round: &RoundId) -> Result<u16> {
    // If the sales cannot be read, the round itself may be.
    let read = snapshots.of(&round.sale).await;
    if let Some(lanes) = snapshots.lanes_of(&round.sale) {
        return Ok(lanes);
    }
    match ledger.round(round).await? {
        Some(round) => Ok(round.terms.lanes),
        None => Ok(read.map(|_| 1)?),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserReservations {
    pub queued: Vec<Reservation>,
    /// The orders of the others, including those that ended.
    pub orders: Vec<Order>,
    /// Whether Redis lost the user's part of the round a moment ago, so more may come back.
    pub restoring: bool,
}

pub fn list_reservations<'a>(
    stock: &'a Stock,
    ledger: &'a Ledger,
    round: &'a Round,
    user: &'a UserId,
    now: EpochMs,
) -> BoxFuture<'a, Result<UserReservations>> {
    Box::pin(async move {
        let reservations = stock.of(round).reservations_of(user).await?;
        let (held, others): (Vec<StoredReservation>, Vec<StoredReservation>) =
            reservations.into_iter().partition(|stored| stored.state == ReservationState::Held);
        let queued: Vec<Reservation> = held.into_iter().map(|stored| stored.reservation).collect();
        let live = queued.len() + others.iter().filter(|stored| stored.state == ReservationState::Ordered).count();
        // A user at the limit cannot be missing anything.
        let is_missing = live < usize::from(round.terms.per_user_limit);
        let counters = if is_missing { stock.of(round).counters_at_home(user).await? } else { None };
        let is_lost = is_missing && counters.is_none() && now >= round.terms.first_opens_at_ms();
        let restoring = is_missing && is_being_restored(round, counters.as_ref(), now);
        let orders = if is_lost || restoring {
            orders_in(ledger, round, user).await?
        } else {
            let ids: Vec<ReservationId> = others.into_iter().map(|stored| stored.reservation.id).collect();
            if ids.is_empty() { Vec::new() } else { ledger.orders(&ids).await? }
        };
        Ok(UserReservations { queued, orders, restoring })
    })
}

async fn orders_in(ledger: &Ledger, round: &Round, user: &UserId) -> Result<Vec<Order>> {
    let (mut orders, mut after) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = ledger.orders_of(user, after).await?;
        let is_before = page.orders.last().is_none_or(|last| last.created_at_ms < round.terms.first_opens_at_ms());
        orders.extend(page.orders.into_iter().filter(|order| order.reservation.id.round == round.id));
        after = page.next;
        if is_before || after.is_none() {
            break;
        }
    }
    Ok(orders)
}

/// Whether Redis lost what a user had in a round, or had until lately. After its close none is loaded again.
fn is_being_restored(round: &Round, counters: Option<&Counters>, now: EpochMs) -> bool {
    let (opens_at, closes_at) = (round.terms.first_opens_at_ms(), round.terms.closes_at_ms);
    match counters {
        // A round that was never loaded is not lost.
        None if round.awaits_beacon() => false,
        None => now >= opens_at && now.since_ms(closes_at) < RESTORING_MS,
        Some(counters) => restored_at(round, counters).is_some_and(|at| now.since_ms(at) < RESTORING_MS),
    }
}

/// When the keys of a round were made, if Redis had lost earlier ones after somebody could reserve.
pub(crate) fn restored_at(round: &Round, counters: &Counters) -> Option<EpochMs> {
    let is_first = Some(counters.epoch_ms) == round.loaded_at_ms;
    Some(counters.epoch_ms).filter(|made_at| !is_first && *made_at > round.terms.first_opens_at_ms())
}
