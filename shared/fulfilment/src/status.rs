use ledger::Ledger;
use process::Snapshots;
use sale::{Claim, ClaimState, Entry, EpochMs, Order, ReservationId, Round, UserId};
use stock::{Counters, Stock};

use crate::error::FulfilmentError;

/// How long after Redis was rebuilt a reservation that nobody knows is taken for one that may still become an order: longer
/// than its message takes, unless the ledger or the queue is away for as long. Then its buyer hears of it once it is made.
pub(crate) const SETTLING_MS: u64 = 15 * 60 * 1000;

/// Where a reservation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Redis has it and the ledger does not yet.
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
    let of_user = |order: Order| if order.claim.user == *user { Status::Order(order) } else { Status::Unknown };
    if let Some(order) = ledger.order(id).await? {
        return Ok(of_user(order));
    }
    match stock.round(&id.round).find(id.uuid, user).await? {
        Some(Entry { claim, state: ClaimState::Held }) => Ok(Status::Queued(claim)),
        // Ordered or released since the ledger was asked.
        Some(_) => Ok(ledger.order(id).await?.map_or(Status::Unknown, of_user)),
        None => {
            let known = snapshots.now().await?;
            // The sale may have been published, or come to its round, since its last reading.
            let known = if known.latest_round(&id.round).is_none() { snapshots.lately().await? } else { known };
            match known.latest_round(&id.round) {
                Some(round) if round.id == id.round && is_settling(stock, round, now).await? => Ok(Status::Settling),
                _ => Ok(Status::Unknown),
            }
        }
    }
}

/// Whether Redis has lost a sale's latest round, or had until a moment ago. One that is lost after its close is not made again.
async fn is_settling(stock: &Stock, round: &Round, now: EpochMs) -> Result<bool, FulfilmentError> {
    let (opens_at, closes_at) = (round.terms.first_opens_at_ms(), round.terms.closes_at_ms);
    Ok(match stock.round(&round.id).counters().await? {
        None => now >= opens_at && now.since_ms(closes_at) < SETTLING_MS,
        Some(counters) => restored_at(round, &counters).is_some_and(|at| now.since_ms(at) < SETTLING_MS),
    })
}

/// When the keys of a round were made that Redis had lost since somebody could reserve. None if they are the first.
pub(crate) fn restored_at(round: &Round, counters: &Counters) -> Option<EpochMs> {
    let is_first = Some(counters.epoch_ms) == round.loaded_at_ms;
    Some(counters.epoch_ms).filter(|made_at| !is_first && *made_at > round.terms.first_opens_at_ms())
}
