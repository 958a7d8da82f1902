//! Writes an order at once, for clients that do not want to wait for the queue.

use std::time::Duration;

use api::Problem;
use fulfilment::FulfilmentError;
use lambda_http::{Request, RequestExt};
use sale::{EpochMs, Order, Reservation};

use crate::deps::ReservationDeps;

/// The longest wait for the order. After that it is left to the queue, and the client gets "queued".
const PLACE_TIMEOUT: Duration = Duration::from_secs(4);

/// Whether the client asks for its order at once.
pub(crate) fn is_asked_for(request: &Request) -> Result<bool, Problem> {
    let query = request.query_string_parameters_ref();
    match query.and_then(|query| query.first("expedite")) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Problem::invalid("expedite: true or false")),
    }
}

/// Writes the order as `order` would. The message in the queue then finds the order written.
///
/// Returns `None` if that is not possible now. Nothing is lost, since the message comes in any case.
pub(crate) async fn expedite(deps: &ReservationDeps, reservation: &Reservation, now: EpochMs) -> Option<Order> {
    let placed = tokio::time::timeout(deps.clock.limit(PLACE_TIMEOUT), place_now(deps, reservation, now)).await;
    match placed.unwrap_or(Err(FulfilmentError::OutOfTime)) {
        Ok(order) => {
            let (id, state, unit) = (&reservation.id, order.state.as_str(), order.reservation.unit.0);
            tracing::info!(reservation_id = %id, state, unit, "expedited");
            Some(order)
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, reservation_id = %reservation.id, "the order is left to the queue");
            None
        }
    }
}

async fn place_now(deps: &ReservationDeps, reservation: &Reservation, now: EpochMs) -> Result<Order, FulfilmentError> {
    let round = &reservation.id.round;
    let snapshot = deps.snapshots.of(&round.sale).await?;
    // Other rounds may have another price; placing the order looks that up.
    let latest = snapshot.latest_round(round).filter(|latest| latest.id == *round);
    let latest = latest.ok_or_else(|| FulfilmentError::UnknownSale(round.sale.clone()))?;
    deps.fulfilment.place(reservation, &latest.terms, now).await
}
