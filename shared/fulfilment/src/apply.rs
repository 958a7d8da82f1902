use sale::{Failure, Order, OrderState};
use stock::Stock;

use crate::error::Result;

/// Updates Redis as an order's state requires, whether or not that was done before.
///
/// The order must be as the ledger has it: a unit is only released if the ledger says that nobody has it.
pub(crate) async fn apply_to_stock(stock: &Stock, order: &Order) -> Result<()> {
    let reservation = &order.reservation;
    let round = stock.round(&reservation.id.round);
    match order.state {
        OrderState::Pending | OrderState::Granted | OrderState::Paid => {
            if !round.confirm(reservation).await? {
                let adopted = round.adopt(reservation).await?;
                tracing::warn!(reservation_id = %reservation.id, unit = reservation.unit.0, adopted, "Redis had forgotten the reservation of an order");
            }
        }
        OrderState::Expired | OrderState::Cancelled => {
            round.release(reservation, None, ended_unpaid(order)).await?;
        }
        OrderState::Failed => {
            // "Sold out" means that its unit belonged to another order. Naming that unit protects the one that a second
            // run of the same message may have found meanwhile.
            let of_another = (order.failure == Some(Failure::SoldOut)).then_some(reservation.unit);
            // Not the user's fault.
            round.release(reservation, of_another, false).await?;
        }
    }
    Ok(())
}

/// Longest time from a reservation to its order, or to its cancellation without one, within which its end is the user's
/// doing. The queue's own tries take 45 s.
pub(crate) const PROMPT_MS: u64 = 50 * 1000;

/// Whether the order's end counts as unpaid. Whoever had to wait for the order, since a part of the system did not
/// answer, may have gone by then. An order that was paid too late does not count either: the delay may have been ours.
pub(crate) fn ended_unpaid(order: &Order) -> bool {
    let prompt = order.created_at_ms.since_ms(order.reservation.reserved_at_ms) < PROMPT_MS;
    prompt && !order.paid_late && matches!(order.state, OrderState::Expired | OrderState::Cancelled)
}
