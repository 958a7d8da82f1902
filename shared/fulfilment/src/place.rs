use ledger::{Fence, Fenced, Ledger, NewOrder, Placed};
use process::TermsCache;
use queue::ExpiryQueue;
use sale::{EpochMs, Failure, Order, Reservation, ReservationId, Terms};
use stock::{Reseated, Stock};

use crate::LANE;
use crate::error::FulfilmentError;
use crate::settle::settle;

/// Units tried in one run. Each new one is kept in Redis, so the next run goes on where this one stopped.
const MAX_SEATS: usize = 16;

/// Makes a reservation an order, or finds out that it never will be one; then settles Redis and the expiry.
///
/// The order that comes back is what the ledger has: PENDING when this run or an earlier one made it, or whatever became
/// of it since.
///
/// # Errors
/// If a part does not answer. Can be repeated: the order and both guards are one transaction on the condition that none
/// of the three is there.
pub async fn place(
    stock: &Stock,
    ledger: &Ledger,
    expiry: &ExpiryQueue,
    terms: &Terms,
    reservation: &Reservation,
    now: EpochMs,
) -> Result<Order, FulfilmentError> {
    let mut reservation = reservation.clone();
    for _ in 0..MAX_SEATS {
        let new = NewOrder {
            reservation: &reservation,
            price: terms.price,
            created_at_ms: now,
            pay_by_ms: now.plus_s(terms.payment_window_s),
        };
        let taken = match ledger.place(&new).await? {
            Placed::Now(order) | Placed::Before(order) => {
                settle(stock, expiry, &order, now).await?;
                return Ok(order);
            }
            Placed::Taken(taken) => taken,
        };
        tracing::warn!(reservation_id = %reservation.id, unit = reservation.unit.0, unit_taken = taken.unit, slot_taken = taken.slot, "a guard is another order's");
        // The unit comes first: a reservation that fails for its slot then has a unit of its own to give back.
        if !taken.unit {
            return fail(stock, ledger, expiry, &reservation, Failure::LimitReached, now).await;
        }
        match stock.reseat(&reservation).await? {
            Reseated::To(hold) => {
                reservation.unit = hold.unit;
                reservation.slot = hold.slot;
            }
            Reseated::SoldOut => return fail(stock, ledger, expiry, &reservation, Failure::SoldOut, now).await,
            // Redis gave its slot to another reservation of the user.
            Reseated::UnknownHold => return fail(stock, ledger, expiry, &reservation, Failure::SoldOut, now).await,
            // Released only after a fence: the next turn reads what it says.
            Reseated::AlreadyReleased => {}
            Reseated::UnknownSale => break,
        }
    }
    Err(FulfilmentError::NoUnit(reservation.id))
}

/// Places a reservation that became a dead letter, exactly as [`place`] does. It is fenced as FAILED only for what no
/// retry can change: [`Failure`] lists the reasons. Every other fault is an error, and the message comes back.
///
/// # Errors
/// If a part does not answer, now or for hours. Can be repeated.
pub async fn place_or_fail(
    stock: &Stock,
    ledger: &Ledger,
    expiry: &ExpiryQueue,
    terms: &TermsCache,
    reservation: &Reservation,
    now: EpochMs,
) -> Result<Order, FulfilmentError> {
    let Some(terms) = terms.get(&reservation.id.sale).await? else {
        return fail(stock, ledger, expiry, reservation, Failure::UnknownSale, now).await;
    };
    match place(stock, ledger, expiry, &terms, reservation, now).await {
        Err(FulfilmentError::NoUnit(_)) if has_left(stock, ledger, reservation, now).await? => {
            fail(stock, ledger, expiry, reservation, Failure::SoldOut, now).await
        }
        placed => placed,
    }
}

/// Whether the reservation's round is over and its keys are gone: they are not made again, so nobody can give it another
/// unit. The sale is read anew, since its round may have begun or ended since it was read last.
async fn has_left(
    stock: &Stock,
    ledger: &Ledger,
    reservation: &Reservation,
    now: EpochMs,
) -> Result<bool, FulfilmentError> {
    let ReservationId { sale, round, .. } = &reservation.id;
    let Some(read) = ledger.sale(sale).await? else { return Ok(false) };
    let is_over = *round < read.round || now >= read.terms.closes_at_ms;
    Ok(is_over && !stock.is_loaded(sale, *round, LANE).await?)
}

async fn fail(
    stock: &Stock,
    ledger: &Ledger,
    expiry: &ExpiryQueue,
    reservation: &Reservation,
    why: Failure,
    now: EpochMs,
) -> Result<Order, FulfilmentError> {
    let (Fenced::Now(order) | Fenced::Before(order)) = ledger.fence(reservation, Fence::Failed(why), now).await?;
    settle(stock, expiry, &order, now).await?;
    Ok(order)
}
