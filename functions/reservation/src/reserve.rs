use std::sync::Arc;

use api::{Code, Problem, Reply, correlation_id, idempotency_key, json, no_body};
use gate::{Check, Route, Visitor};
use http::StatusCode;
use http::header::LOCATION;
use lambda_http::{Request, RequestExt};
use messaging::queue::OrderMessage;
use process::{CachedSale, Step};
use runtime::Moment;
use sale::{BuyerClass, Reservation, ReservationId, ReservationState, RoundId, StoredReservation, UserId};
use serde::Serialize;
use stock::Reserve;

use crate::deps::ReservationDeps;

/// A reservation without an order after this many milliseconds may never have reached the queue. Before that, its
/// message is most likely under way and a second one would be wasted.
const SEND_AGAIN_AFTER_MS: u64 = 2_000;

const CHECKS: &[Check] =
    &[Check::Pass, Check::KillSwitch, Check::Address, Check::Rate(Route::Reserve), Check::Form, Check::SoldOut];

struct Attempt {
    id: ReservationId,
    user: UserId,
    class: BuyerClass,
    sale: Option<Arc<CachedSale>>,
}

#[derive(Serialize)]
struct Accepted {
    reservation_id: ReservationId,
    status: &'static str,
}

/// One call to Redis, or none if it just said that nothing is left; one message for a winner: 202 says it is queued.
pub(crate) async fn reserve(deps: &ReservationDeps, request: &Request, sale: &str, token: &str) -> Reply {
    let Attempt { id, user, class, sale } = attempt(deps, request, sale, token).await?;
    // All rounds of a sale have the same number of lanes.
    let lanes = sale.as_ref().map_or(1, |cached| cached.round.terms.lanes);
    let asked = Moment::now(deps.clock);
    let answer = deps.fulfilment.stock.round_in(&id.round, lanes).reserve(id.uuid, &user, class).await;
    match answer.map_err(Problem::unanswered)? {
        Reserve::Reserved(reservation)
        | Reserve::Replayed(StoredReservation { reservation, state: ReservationState::Held }) => {
            // Boxed, like everything that only winners need: less memory to move for the crowd.
            Box::pin(accept(deps, request, id, reservation)).await
        }
        Reserve::Replayed(_) => Ok(accepted(id)),
        Reserve::AlreadyReserved(reservations) => {
            let ids: Vec<String> = reservations.iter().map(|stored| stored.reservation.id.to_string()).collect();
            Box::pin(send_overdue(deps, request, reservations)).await?;
            Err(Problem::new(Code::LimitReached).with("reservation_ids", ids))
        }
        Reserve::TooManyUnpaid(count) => {
            let detail = format!("{count} of your reservations ended unpaid, and this sale allows no more");
            Err(Problem::new(Code::UnpaidLimit).detail(detail))
        }
        Reserve::SoldOut(sold_out) => {
            if let Some(cached) = sale.filter(|cached| cached.round.id == id.round) {
                cached.sold_out.heard(&deps.fulfilment.stock, &cached.round, asked, sold_out);
            }
            Err(Problem::sold_out(sold_out.next_release_ms, deps.clock.now()))
        }
        Reserve::NotOpen(opens_at) => Err(Problem::not_open(opens_at, deps.clock.now())),
        // The process must not remember this for others, who may be in the group.
        Reserve::QuotaOnly(until) => Err(Problem::sold_out(Some(until), deps.clock.now())),
        Reserve::Closed => Err(Problem::new(Code::Closed)),
        Reserve::Paused => Err(Problem::paused()),
        Reserve::Blocked => Err(Problem::new(Code::Blocked)),
        Reserve::UnknownSale => {
            let latest = sale.as_ref().map(|cached| &cached.round);
            Err(Box::pin(deps.rebuilds.not_in_redis(&deps.fulfilment.stock, &user, &id.round, latest)).await)
        }
    }
}

/// Runs the checks. A function of its own, so that their state is dropped before Redis is called.
async fn attempt(deps: &ReservationDeps, request: &Request, sale: &str, token: &str) -> Result<Attempt, Problem> {
    let (visitor, key) = deps.gate().enter(request, sale, CHECKS, key_without_body).await?;
    let pass = visitor.pass()?;
    deps.gate().turn(&visitor, Step::Reserve).await?;
    let Visitor { user, sale_id, sale, .. } = visitor;
    let round = RoundId { sale: sale_id, number: pass.round };
    let id = match key {
        Some(key) => ReservationId::derived(round, &user, key),
        None => ReservationId::of_pass(round, &user, token, pass.issued_at_ms),
    };
    Ok(Attempt { id, user, class: pass.class, sale })
}

fn key_without_body(request: &Request) -> Result<Option<&str>, Problem> {
    no_body(request)?;
    idempotency_key(request)
}

async fn accept(deps: &ReservationDeps, request: &Request, id: ReservationId, reservation: Reservation) -> Reply {
    let unit = reservation.unit.0;
    send(deps, request, reservation).await?;
    tracing::info!(reservation_id = %id, unit, trace = correlation_id(request), "reserved");
    Ok(accepted(id))
}

fn accepted(id: ReservationId) -> lambda_http::Response<lambda_http::Body> {
    let location = format!("/v1/reservations/{id}");
    let mut response = json(StatusCode::ACCEPTED, &Accepted { reservation_id: id, status: "queued" });
    if let Ok(location) = location.parse() {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// A client that lost its answer and sends no key gets here with its own reservation, whose message may never have been
/// sent. That is the latest one. Messages of the others would only lengthen a backlog; reconciliation sends what is lost.
async fn send_overdue(
    deps: &ReservationDeps,
    request: &Request,
    reservations: Vec<StoredReservation>,
) -> Result<(), Problem> {
    let now = deps.clock.now();
    let held = reservations.into_iter().filter(|stored| stored.state == ReservationState::Held);
    match held.map(|stored| stored.reservation).max_by_key(|reservation| reservation.reserved_at_ms) {
        Some(latest) if now.since_ms(latest.reserved_at_ms) >= SEND_AGAIN_AFTER_MS => send(deps, request, latest).await,
        _ => Ok(()),
    }
}

/// Sends the reservation to the queue. If that fails, it stays in Redis and its outbox, and a retry sends it again.
async fn send(deps: &ReservationDeps, request: &Request, reservation: Reservation) -> Result<(), Problem> {
    let trace = request.lambda_context_ref().and_then(|context| context.xray_trace_id.clone());
    let message = OrderMessage::new(reservation, trace.or_else(|| correlation_id(request).map(str::to_owned)));
    deps.orders.send(&message).await.map_err(|error| {
        Problem::unanswered(error)
            .detail("the unit is yours; send the request again to have it ordered")
            .with("reservation_id", message.reservation.id.to_string())
    })
}
