//! Buyers' requests: reserve, poll, cancel.

mod deps;
mod document;
mod expedite;
mod queries;
mod reserve;

use std::time::Instant;

use api::{Code, Problem, Reply, caller, correlation_id, no_body, respond, segments};
use context::{Serving, serve_crowd};
use fulfilment::{Cancel, cancel};
use gate::Route;
use lambda_http::{Body, Request, Response};
use runtime::{ANSWER_TIMEOUT, SampledMs};

pub use crate::deps::ReservationDeps;
use crate::document::QUEUED;
pub use crate::queries::MAX_LISTED;

/// The code under which a successful reservation is counted.
const ACCEPTED: &str = "accepted";

/// Milliseconds from the event to the answer.
static RESERVE_MS: SampledMs = SampledMs::new("ReserveMs");

pub fn run() -> Serving {
    serve_crowd(ReservationDeps::new, |deps, request| async move { handle(&deps, request).await })
}

pub async fn handle(deps: &ReservationDeps, request: Request) -> Response<Body> {
    let began = Instant::now();
    let path = segments(&request);
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request, &path)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    if let ("POST", ["v1", "sales", sale, "reservations", _]) = (request.method().as_str(), path.as_slice()) {
        RESERVE_MS.record(began);
        let code = reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| ACCEPTED);
        deps.snapshots.count_answer(sale, code);
    }
    respond(reply)
}

async fn answer(deps: &ReservationDeps, request: &Request, path: &[&str]) -> Reply {
    match (request.method().as_str(), path) {
        ("POST", ["v1", "sales", sale, "reservations", token]) => reserve::reserve(deps, request, sale, token).await,
        ("GET", ["v1", "sales", sale, "reservation"]) => Box::pin(queries::of_sale(deps, request, sale)).await,
        ("GET", ["v1", "reservations", id]) => Box::pin(queries::reservation(deps, request, id)).await,
        ("DELETE", ["v1", "reservations", id]) => Box::pin(give_back(deps, request, id)).await,
        ("GET", ["v1", "orders"]) => Box::pin(queries::orders(deps, request)).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn give_back(deps: &ReservationDeps, request: &Request, id: &str) -> Reply {
    let (caller, id) = (caller(request)?, id.parse()?);
    no_body(request)?;
    deps.gate().limit(request, Route::Cancel, &caller.user)?;
    let now = deps.clock.now();
    let cancelled = cancel(&deps.fulfilment.stock, &deps.fulfilment.ledger, &deps.snapshots, &id, &caller.user, now);
    match cancelled.await.map_err(Problem::unanswered)? {
        Cancel::Cancelled(order) => {
            tracing::info!(reservation_id = %id, unit = order.reservation.unit.0, trace = correlation_id(request), "cancelled");
            queries::document(deps, &order, now).await
        }
        Cancel::NotCancellable(order) => {
            Err(Problem::new(Code::NotCancellable).with("reservation_status", order.state.status()))
        }
        Cancel::Final(_) => Err(Problem::new(Code::NotCancellable)
            .detail("reservations of this sale are final")
            .with("reservation_status", QUEUED)),
        Cancel::Restoring => Err(Problem::restoring_reservations()),
        Cancel::Unknown => Err(Problem::new(Code::UnknownReservation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer's future is moved in memory several times for each of up to a hundred thousand requests a second. AWS
    /// calls, which take kilobytes and only happen for the few winners, are therefore boxed. The handle of a round's
    /// lanes adds 24 bytes at each level.
    #[test]
    fn an_answer_is_light_to_move() {
        fn size_of_answer<'a, F>(_: fn(&'a ReservationDeps, Request) -> F) -> usize {
            size_of::<F>()
        }
        assert!(size_of_answer(handle) <= 2200, "{} bytes", size_of_answer(handle));
    }
}
