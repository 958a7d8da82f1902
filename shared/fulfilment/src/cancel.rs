use futures::future::BoxFuture;
use ledger::Ledger;
use process::Snapshots;
use sale::{EpochMs, Order, OrderState, Reservation, ReservationId, Settlement, Transition, UserId};
use stock::Stock;

use crate::apply::apply_to_stock;
use crate::error::{FulfilmentError, Result};
use crate::status::{Status, status};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancel {
    /// It is cancelled, by this run or an earlier one, and its unit was given back.
    Cancelled(Order),
    /// It is paid, granted, expired or failed; the order as it is.
    NotCancellable(Order),
    /// Its order is not written yet and will be final, since the round is free.
    Final(Reservation),
    Restoring,
    Unknown,
}

/// Cancels a user's reservation, whether its order is written yet or not. In a free round it cannot be cancelled: the
/// user may know what the unit won, so the unit must never go to somebody else.
///
/// Guards against the order message that is still under way (the fence and the order have the same key, so the ledger
/// accepts only one of them) and against a concurrent payment (both require PENDING).
pub fn cancel<'a>(
    stock: &'a Stock,
    ledger: &'a Ledger,
    snapshots: &'a Snapshots,
    id: &'a ReservationId,
    user: &'a UserId,
    now: EpochMs,
) -> BoxFuture<'a, Result<Cancel>> {
    Box::pin(async move {
        let order = match status(stock, ledger, snapshots, id, user, now).await? {
            Status::Unknown => return Ok(Cancel::Unknown),
            Status::Restoring => return Ok(Cancel::Restoring),
            Status::Order(order) => order,
            // A round's settlement never changes. A reservation of a round that the ledger does not have becomes no
            // order.
            Status::Queued(reservation) => {
                let round = ledger.round(&reservation.id.round).await?;
                if round.is_some_and(|round| round.terms.settlement == Settlement::Free) {
                    return Ok(Cancel::Final(reservation));
                }
                ledger.fence(Order::cancelled(reservation, now)).await?
            }
        };
        let order = match order.state {
            OrderState::Pending => {
                let ended = ledger.end_unpaid(&order, Transition::Cancel, now).await?;
                ended.ok_or(FulfilmentError::UnknownOrder(order.reservation.id))?
            }
            _ => order,
        };
        if order.state == OrderState::Cancelled {
            apply_to_stock(stock, &order).await?;
            Ok(Cancel::Cancelled(order))
        } else {
            Ok(Cancel::NotCancellable(order))
        }
    })
}
