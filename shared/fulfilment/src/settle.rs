use queue::{ExpiryMessage, ExpiryQueue};
use sale::{EpochMs, Failure, Order, OrderState};
use stock::Stock;

use crate::error::FulfilmentError;

/// Does what an order's state asks of Redis, whether or not it was done before.
///
/// The order must be as the ledger has it: a unit is released only on the ledger's word that nobody has it.
pub(crate) async fn settle_stock(stock: &Stock, order: &Order) -> Result<(), FulfilmentError> {
    let claim = &order.claim;
    let round = stock.round(&claim.id.round);
    match order.state {
        OrderState::Pending | OrderState::Granted | OrderState::Paid => {
            if !round.confirm(claim).await? {
                let adopted = round.adopt(claim).await?;
                tracing::warn!(reservation_id = %claim.id, unit = claim.unit.0, adopted, "Redis had forgotten the hold of an order");
            }
        }
        OrderState::Expired | OrderState::Cancelled => {
            round.release(claim, None, ended_unpaid(order)).await?;
        }
        OrderState::Failed => {
            // Sold out means that its unit was another order's. Naming that unit keeps one that a second run of the same
            // message found in the meantime from being forgotten too.
            let of_another = (order.failure == Some(Failure::SoldOut)).then_some(claim.unit);
            // Its user could not help it.
            round.release(claim, of_another, false).await?;
        }
    }
    Ok(())
}

/// Longest time from a reservation to its order, or to its cancellation without one, within which its end is the user's
/// doing: twice what the queue's own tries take.
const PROMPT_MS: u64 = 2 * 60 * 1000;

/// Whether the order's end counts as unpaid. Whoever had to wait for the order, since a part of the system did not answer,
/// may have gone by then.
pub(crate) fn ended_unpaid(order: &Order) -> bool {
    let prompt = order.created_at_ms.since_ms(order.claim.reserved_at_ms) < PROMPT_MS;
    prompt && matches!(order.state, OrderState::Expired | OrderState::Cancelled)
}

/// Does what follows an order's state outside the ledger: Redis, and the message that will expire it.
///
/// A PENDING order is confirmed first and then sent to expire. Between the two it may have been paid or cancelled, which
/// the expiry message finds out by itself.
pub(crate) async fn settle(
    stock: &Stock,
    expiry: &ExpiryQueue,
    order: &Order,
    now: EpochMs,
) -> Result<(), FulfilmentError> {
    settle_stock(stock, order).await?;
    if order.state == OrderState::Pending
        && let Some(pay_by_ms) = order.pay_by_ms
    {
        expiry.send(&ExpiryMessage::new(order.claim.id.clone(), pay_by_ms), now).await?;
    }
    Ok(())
}
