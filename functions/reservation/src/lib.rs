//! Reserve, look, cancel: what buyers ask for.

mod document;
mod expedite;
mod reserve;

use std::sync::Arc;
use std::time::Instant;

use api::{Code, Problem, Reply, caller, json, no_body, respond, segments};
use context::{Context, ContextError};
use fulfilment::{Cancel, Status, cancel, status};
use gate::{Gate, PassKeys, Route, VisitorCounts};
use http::{Method, StatusCode};
use lambda_http::{Body, Request, RequestExt, Response};
use ledger::Ledger;
use process::{AwardCache, Snapshots, TermsCache};
use queue::{ExpiryQueue, OrderQueue};
use runtime::{ANSWER_TIMEOUT, Clock, SampledMs};
use sale::{EpochMs, Order, ReservationId};
use stock::Stock;

use crate::document::{Document, OrdersDocument};

/// The code under which a successful reservation is counted.
const ACCEPTED: &str = "accepted";

/// From the event to the answer.
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
    /// The terms of rounds, for the names of prizes.
    pub terms: TermsCache,
    /// What units won.
    pub awards: AwardCache,
    /// The keys of passes.
    pub keys: PassKeys,
    /// What this process counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// The order queue.
    pub orders: OrderQueue,
    /// The expiry queue.
    pub expiry: ExpiryQueue,
    /// The time.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings.
    ///
    /// # Errors
    /// If a setting is missing or unusable.
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
            clock: context.clock(),
        })
    }

    fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, clock: *clock }
    }
}

/// Answers one request.
pub async fn handle(deps: &Deps, request: Request) -> Response<Body> {
    let began = Instant::now();
    let answered = tokio::time::timeout(ANSWER_TIMEOUT, answer(deps, &request)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    if let (&Method::POST, ["v1", "sales", sale, "reservations", _]) = (request.method(), segments(&request).as_slice())
    {
        RESERVE_MS.record(began);
        let code = reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| ACCEPTED);
        deps.snapshots.count_answer(sale, code);
    }
    respond(reply)
}

async fn answer(deps: &Deps, request: &Request) -> Reply {
    match (request.method(), segments(request).as_slice()) {
        (&Method::POST, ["v1", "sales", sale, "reservations", token]) => {
            reserve::reserve(deps, request, sale, token).await
        }
        (&Method::GET, ["v1", "reservations", id]) => Box::pin(look(deps, request, id)).await,
        (&Method::DELETE, ["v1", "reservations", id]) => Box::pin(give_back(deps, request, id)).await,
        (&Method::GET, ["v1", "orders"]) => Box::pin(list(deps, request)).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn look(deps: &Deps, request: &Request, id: &str) -> Reply {
    let (caller, id) = (caller(request)?, reservation_id(id)?);
    let expedited = expedite::is_asked_for(request)?;
    deps.gate().limit(request, if expedited { Route::Expedite } else { Route::Look }, &caller.user)?;
    let now = deps.clock.now();
    match status(&deps.stock, &deps.ledger, &deps.snapshots, &id, &caller.user, now)
        .await
        .map_err(Problem::unanswered)?
    {
        Status::Queued(claim) => {
            let order = if expedited { expedite::expedite(deps, &claim, now).await } else { None };
            match order {
                Some(order) => document(deps, &order).await,
                None => Ok(json(StatusCode::OK, &Document::queued(&claim))),
            }
        }
        Status::Order(order) => document(deps, &order).await,
        Status::Settling => Err(Problem::restoring()),
        Status::Unknown => Err(Problem::new(Code::UnknownReservation)),
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
        Cancel::Cancelled(order) => document(deps, &order).await,
        Cancel::NotCancellable(order) => {
            Err(Problem::new(Code::NotCancellable).with("reservation_status", order.state.status()))
        }
        Cancel::Final(claim) => Err(Problem::new(Code::NotCancellable)
            .detail("what this sale gives is final")
            .with("reservation_status", Document::queued(&claim).status())),
        Cancel::Settling => Err(Problem::restoring()),
        Cancel::Unknown => Err(Problem::new(Code::UnknownReservation)),
    }
}

async fn list(deps: &Deps, request: &Request) -> Reply {
    let caller = caller(request)?;
    let query = request.query_string_parameters_ref();
    let after = query.and_then(|query| query.first("cursor")).map(cursor).transpose()?;
    deps.gate().limit(request, Route::Orders, &caller.user)?;
    let page = deps.ledger.orders_of(&caller.user, after).await.map_err(Problem::unanswered)?;
    // One after the other: the terms of a round are read once.
    let mut orders = Vec::with_capacity(page.orders.len());
    for order in &page.orders {
        orders.push(shown(deps, order).await?);
    }
    Ok(json(StatusCode::OK, &OrdersDocument::of(orders, &page)))
}

async fn document(deps: &Deps, order: &Order) -> Reply {
    Ok(json(StatusCode::OK, &shown(deps, order).await?))
}

async fn shown(deps: &Deps, order: &Order) -> Result<Document, Problem> {
    let award = deps.terms.award_of(order).await.map_err(Problem::unanswered)?;
    Ok(Document::of(order, award))
}

fn reservation_id(text: &str) -> Result<ReservationId, Problem> {
    text.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))
}

/// Reads what [`OrdersDocument`] gave out: `CREATED_AT_MS.RESERVATION_ID`.
fn cursor(text: &str) -> Result<(ReservationId, EpochMs), Problem> {
    let parse = || {
        let (created_at_ms, id) = text.split_once('.')?;
        Some((id.parse().ok()?, EpochMs(created_at_ms.parse().ok()?)))
    };
    parse().ok_or_else(|| Problem::invalid("cursor: take it from an earlier page's next_cursor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for a hundred thousand times a second is moved some times in memory on its way: the calls of AWS, which
    /// take kilobytes each and are for the few, are in boxes.
    #[test]
    fn an_answer_is_light_to_move() {
        fn size_of_answer<'a, F>(_: fn(&'a Deps, Request) -> F) -> usize {
            size_of::<F>()
        }
        assert!(size_of_answer(handle) <= 2048, "{} bytes", size_of_answer(handle));
    }
}
