use ledger::Ledger;
use sale::{EpochMs, Order, OrderState, ReservationId, Transition};
use stock::Stock;

use crate::apply::apply_to_stock;
use crate::error::{FulfilmentError, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expire {
    /// It is EXPIRED, by this run or an earlier one, and its unit was given back.
    Expired(Order),
    /// It still waits for its payment, until this time.
    NotYet(EpochMs),
    /// It is paid, cancelled or failed; nothing to do.
    Ended(Order),
}

pub async fn expire(stock: &Stock, ledger: &Ledger, id: &ReservationId, now: EpochMs) -> Result<Expire> {
    let unknown = || FulfilmentError::UnknownOrder(id.clone());
    let order = ledger.order(id).await?.ok_or_else(unknown)?;
    let order = match (order.state, order.pay_by_ms) {
        (OrderState::Pending, Some(pay_by)) if pay_by > now => return Ok(Expire::NotYet(pay_by)),
        (OrderState::Pending, _) => ledger.end_unpaid(&order, Transition::Expire, now).await?.ok_or_else(unknown)?,
        _ => order,
    };
    apply_to_stock(stock, &order).await?;
    if order.state == OrderState::Expired { Ok(Expire::Expired(order)) } else { Ok(Expire::Ended(order)) }
}
