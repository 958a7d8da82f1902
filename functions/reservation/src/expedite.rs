//! The green channel: an order at once, for who does not want to wait for the queue.

use std::time::Duration;

use api::Problem;
use fulfilment::{FulfilmentError, place};
use lambda_http::{Request, RequestExt};
use sale::{Claim, EpochMs, Order};

use crate::Deps;

/// Longest wait for the order. What is not done by then the queue does, so the client hears that it is queued.
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

/// Makes the order as the queue would. Its message is still under way and will find the order made.
///
/// None if that does not work out now: nothing is lost, since the message comes in any case.
pub(crate) async fn expedite(deps: &Deps, claim: &Claim, now: EpochMs) -> Option<Order> {
    let placed = tokio::time::timeout(PLACE_TIMEOUT, place_now(deps, claim, now)).await;
    match placed.unwrap_or(Err(FulfilmentError::OutOfTime)) {
        Ok(order) => {
            let (id, state, unit) = (&claim.id, order.state.as_str(), order.claim.unit.0);
            tracing::info!(reservation_id = %id, state, unit, "expedited");
            Some(order)
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, reservation_id = %claim.id, "it is left to the queue");
            None
        }
    }
}

async fn place_now(deps: &Deps, claim: &Claim, now: EpochMs) -> Result<Order, FulfilmentError> {
    let snapshot = deps.snapshots.now().await?;
    let round = &claim.id.round;
    // Another round may cost something else: the queue's end looks this one up.
    let latest = snapshot.latest_round(round).filter(|latest| latest.id == *round);
    let latest = latest.ok_or_else(|| FulfilmentError::UnknownSale(round.sale.clone()))?;
    let limits = deps.terms.campaign_limits(&round.sale).await?;
    place(&deps.stock, &deps.ledger, &deps.awards, &deps.expiry, &latest.terms, &limits, claim, now).await
}
