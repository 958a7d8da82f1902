use ledger::Ledger;
use sale::{HoldState, Order, ReservationId, UserId};
use stock::{Hold, Stock};

use crate::{FulfilmentError, LANE};

/// Where a reservation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Redis has it and the ledger does not yet.
    Queued(Hold),
    /// The ledger has it.
    Order(Order),
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
    id: &ReservationId,
    user: &UserId,
) -> Result<Status, FulfilmentError> {
    if let Some(order) = ledger.order(id).await? {
        return Ok(if order.user == *user { Status::Order(order) } else { Status::Unknown });
    }
    match stock.find(id, LANE, user).await? {
        Some(hold) if hold.state == HoldState::Held => Ok(Status::Queued(hold)),
        // Ordered or released since the ledger was asked.
        Some(_) => Ok(ledger.order(id).await?.map_or(Status::Unknown, Status::Order)),
        None => Ok(Status::Unknown),
    }
}
