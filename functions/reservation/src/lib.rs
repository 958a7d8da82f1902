//! Buyers' requests: reserve, poll, cancel.

mod document;
mod expedite;
mod look;
mod reserve;

use std::sync::Arc;
use std::time::Instant;

use api::{Code, Problem, Reply, caller, correlation_id, no_body, respond, segments};
use context::{Context, ContextError, Error, serve_crowd};
use fulfilment::{Cancel, cancel};
use gate::{Gate, PassKeys, Rebuilds, Route, VisitorCounts};
use http::Method;
use lambda_http::{Body, Request, Response};
use ledger::Ledger;
use process::{AwardCache, Snapshots, TermsCache};
use queue::{ExpiryQueue, OrderQueue};
use runtime::{ANSWER_TIMEOUT, Clock, SampledMs};
use sale::ReservationId;
use stock::Stock;

use crate::document::QUEUED;
pub use crate::look::MAX_LISTED;

/// The code under which a successful reservation is counted.
const ACCEPTED: &str = "accepted";

/// Milliseconds from the event to the answer.
static RESERVE_MS: SampledMs = SampledMs::new("ReserveMs");

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// Published sales and stops.
    pub snapshots: Snapshots,
    /// The terms of rounds, which have the names of prizes.
    pub terms: TermsCache,
    /// The awards of units.
    pub awards: AwardCache,
    /// The keys that sign passes.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// The order queue.
    pub orders: OrderQueue,
    /// The expiry queue.
    pub expiry: ExpiryQueue,
    /// Asks for rounds that Redis has lost.
    pub rebuilds: Rebuilds,
    /// The clock.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            terms: context.terms()?,
            awards: context.awards()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            orders: context.order_queue()?,
            expiry: context.expiry_queue()?,
            rebuilds: Rebuilds::new(context.rebuild_queue()?, context.clock()),
            clock: context.clock(),
        })
    }

    fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}

/// Serves until Lambda ends the process. Fails if a setting is missing or unusable, or the Runtime API does not answer.
pub async fn run() -> Result<(), Error> {
    serve_crowd(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}

/// Answers one request.
pub async fn handle(deps: &Deps, request: Request) -> Response<Body> {
    let began = Instant::now();
    let path = segments(&request);
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request, &path)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    if let (&Method::POST, ["v1", "sales", sale, "reservations", _]) = (request.method(), path.as_slice()) {
        RESERVE_MS.record(began);
        let code = reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| ACCEPTED);
        deps.snapshots.count_answer(sale, code);
    }
    respond(reply)
}

async fn answer(deps: &Deps, request: &Request, path: &[&str]) -> Reply {
    match (request.method(), path) {
        (&Method::POST, ["v1", "sales", sale, "reservations", token]) => {
            reserve::reserve(deps, request, sale, token).await
        }
        (&Method::GET, ["v1", "sales", sale, "reservation"]) => Box::pin(look::of_sale(deps, request, sale)).await,
        (&Method::GET, ["v1", "reservations", id]) => Box::pin(look::reservation(deps, request, id)).await,
        (&Method::DELETE, ["v1", "reservations", id]) => Box::pin(give_back(deps, request, id)).await,
        (&Method::GET, ["v1", "orders"]) => Box::pin(look::orders(deps, request)).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn give_back(deps: &Deps, request: &Request, id: &str) -> Reply {
    let (caller, id) = (caller(request)?, reservation_id(id)?);
    no_body(request)?;
    deps.gate().limit(request, Route::Cancel, &caller.user)?;
    let now = deps.clock.now();
    match cancel(&deps.stock, &deps.ledger, &deps.snapshots, &id, &caller.user, now)
        .await
        .map_err(Problem::unanswered)?
    {
        Cancel::Cancelled(order) => {
            tracing::info!(reservation_id = %id, unit = order.claim.unit.0, trace = correlation_id(request), "cancelled");
            look::document(deps, &order, now).await
        }
        Cancel::NotCancellable(order) => {
            Err(Problem::new(Code::NotCancellable).with("reservation_status", order.state.status()))
        }
        Cancel::Final(_) => Err(Problem::new(Code::NotCancellable)
            .detail("reservations of this sale are final")
            .with("reservation_status", QUEUED)),
        Cancel::Settling => Err(Problem::settling()),
        Cancel::Unknown => Err(Problem::new(Code::UnknownReservation)),
    }
}

fn reservation_id(text: &str) -> Result<ReservationId, Problem> {
    text.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer's future is moved in memory several times for each of up to a hundred thousand requests a second. AWS
    /// calls, which take kilobytes and only happen for the few winners, are therefore boxed. The handle of a round's
    /// lanes adds 24 bytes at each level.
    #[test]
    fn an_answer_is_light_to_move() {
        fn size_of_answer<'a, F>(_: fn(&'a Deps, Request) -> F) -> usize {
            size_of::<F>()
        }
        assert!(size_of_answer(handle) <= 2200, "{} bytes", size_of_answer(handle));
    }
}
