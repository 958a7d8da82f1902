use ledger::Ledger;
use process::Snapshots;
use sale::{Claim, EpochMs, Order, OrderState, ReservationId, Settlement, Transition, UserId};
use stock::Stock;

use crate::error::FulfilmentError;
use crate::settle::settle_stock;
use crate::status::{Status, status};

/// What became of a cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancel {
    /// It is cancelled, now or since an earlier run, and its unit is back.
    Cancelled(Order),
    /// It is paid, granted, expired or failed: as it stands.
    NotCancellable(Order),
    /// Its order is not written yet, and will be final: the round is free.
    Final(Claim),
    /// Redis lost the round a moment ago: ask again.
    Settling,
    /// The user has no such reservation.
    Unknown,
}

/// Gives a user's reservation back, whether its order was made yet or not. One of a free round stays: what its unit won may
/// be known, so the unit must never go to another.
///
/// Guards against the order message that is still under way (the fence and the order have the same key, so the ledger
/// lets one of them in) and against a payment at the same moment (both ask for PENDING).
///
/// # Errors
/// If a part does not answer. Can be repeated.
pub async fn cancel(
    stock: &Stock,
    ledger: &Ledger,
    snapshots: &Snapshots,
    id: &ReservationId,
    user: &UserId,
    now: EpochMs,
) -> Result<Cancel, FulfilmentError> {
    let order = match status(stock, ledger, snapshots, id, user, now).await? {
        Status::Unknown => return Ok(Cancel::Unknown),
        Status::Settling => return Ok(Cancel::Settling),
        Status::Order(order) => order,
        // A round's settlement never changes. A round that the ledger does not have is of a version that had no other one.
        Status::Queued(claim) => {
            let round = ledger.round(&claim.id.round).await?;
            if round.is_some_and(|round| round.terms.settlement == Settlement::Free) {
                return Ok(Cancel::Final(claim));
            }
            ledger.fence(Order::cancelled(claim, now)).await?
        }
    };
    let order = match order.state {
        OrderState::Pending => {
            let ended = ledger.end_unpaid(&order, Transition::Cancel, now).await?;
            ended.ok_or(FulfilmentError::UnknownOrder(order.claim.id))?
        }
        _ => order,
    };
    if order.state == OrderState::Cancelled {
        settle_stock(stock, &order).await?;
        Ok(Cancel::Cancelled(order))
    } else {
        Ok(Cancel::NotCancellable(order))
    }
}
