use api::{Code, Problem, Reply, caller, correlation_id, idempotency_key, json, no_body};
use cache::Moment;
use fulfilment::LANE;
use http::StatusCode;
use http::header::LOCATION;
use lambda_http::{Request, RequestExt};
use queue::OrderMessage;
use sale::{HoldState, ReservationId, SaleId, UserId};
use serde::Serialize;
use stock::{Hold, Reserve};

use crate::{Deps, RETRY_AFTER_S, door, overloaded};

/// A hold without an order after so long may never have reached the queue. Below it, its message is most likely under
/// way and a second one would be wasted.
const SEND_AGAIN_AFTER_MS: u64 = 2_000;

#[derive(Serialize)]
struct Accepted {
    reservation_id: ReservationId,
    status: &'static str,
}

/// One call of Redis, or none if it said a moment ago that nothing is left; and for a winner one message: 202 means that
/// the queue has it.
pub(crate) async fn reserve(deps: &Deps, request: &Request, sale: &str, token: &str) -> Reply {
    let caller = caller(request)?;
    let sale: SaleId = sale.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))?;
    let admitted = door::admit(deps, request, token, &sale, &caller.user).await?;
    let round = admitted.pass.round;
    no_body(request)?;
    let key = idempotency_key(request)?;
    if admitted.is_sold_out(&caller.user, Moment::now(deps.clock)) {
        return Err(Problem::new(Code::SoldOut));
    }
    if let Some(cached) = admitted.sale.as_ref().filter(|cached| cached.sale.isolated_requests_per_s.is_some()) {
        Box::pin(door::take_turn(deps, cached)).await?;
    }
    let id = match key {
        Some(key) => ReservationId::derived(sale, round, &caller.user, key),
        None => ReservationId::of_pass(sale, round, &caller.user, token, admitted.pass.issued_at_ms),
    };
    let asked = Moment::now(deps.clock);
    let answer = deps.stock.reserve(&id, LANE, &caller.user).await.map_err(|error| overloaded(error.into()))?;
    match answer {
        Reserve::Reserved(hold) => accept(deps, request, id, &caller.user, &hold).await,
        Reserve::Replayed(hold) if hold.state == HoldState::Held => {
            accept(deps, request, id, &caller.user, &hold).await
        }
        Reserve::Replayed(_) => Ok(accepted(id)),
        Reserve::AlreadyReserved(holds) => {
            send_overdue(deps, request, &id, &caller.user, &holds).await?;
            let ids: Vec<String> =
                holds.iter().map(|hold| ReservationId { uuid: hold.uuid, ..id.clone() }.to_string()).collect();
            Err(Problem::new(Code::LimitReached).with("reservation_ids", ids))
        }
        Reserve::TooManyUnpaid(count) => {
            let ended = if count == 1 { "reservation" } else { "reservations" };
            let detail = format!("{count} {ended} of yours ended unpaid, and this sale allows no more");
            Err(Problem::new(Code::UnpaidLimit).detail(detail))
        }
        Reserve::SoldOut { last_won_at_ms, lasts } => {
            if let Some(cached) = admitted.sale.filter(|cached| cached.sale.round == round) {
                cached.sold_out.heard(&deps.stock, (&id.sale, round), asked, last_won_at_ms, lasts);
            }
            Err(Problem::new(Code::SoldOut))
        }
        Reserve::NotOpen(opens_at) => Err(Problem::not_open(opens_at, deps.clock.now())),
        Reserve::Closed => Err(Problem::new(Code::Closed)),
        Reserve::Paused => Err(Problem::paused()),
        Reserve::Denied => Err(Problem::new(Code::Denied)),
        Reserve::UnknownSale => Err(Box::pin(not_in_redis(deps, &id)).await),
    }
}

/// A round that Redis does not have: it is not loaded yet, is over, or is lost and will be back. The pass proves that it was
/// published, so a snapshot that does not have it is older than that, and nobody may hear that it does not exist.
async fn not_in_redis(deps: &Deps, id: &ReservationId) -> Problem {
    let now = deps.clock.now();
    let snapshot = match deps.snapshots.now().await {
        Ok(snapshot) => snapshot,
        Err(error) => return overloaded(error.into()),
    };
    match snapshot.sale_of(id) {
        Some(sale) if id.round < sale.round || now >= sale.terms.closes_at_ms => Problem::new(Code::Closed),
        Some(sale) if now < sale.terms.opens_at_ms => Problem::not_open(sale.terms.opens_at_ms, now),
        _ => Problem::restoring(),
    }
}

async fn accept(deps: &Deps, request: &Request, id: ReservationId, user: &UserId, hold: &Hold) -> Reply {
    send(deps, request, &id, user, hold).await?;
    tracing::info!(reservation_id = %id, unit = hold.unit.0, trace = correlation_id(request), "reserved");
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

/// A client that lost its answer and sends no key meets its own reservation here: its message may never have been sent.
async fn send_overdue(
    deps: &Deps,
    request: &Request,
    id: &ReservationId,
    user: &UserId,
    holds: &[Hold],
) -> Result<(), Problem> {
    let now = deps.clock.now();
    let overdue =
        |hold: &&Hold| hold.state == HoldState::Held && now.since_ms(hold.reserved_at_ms) >= SEND_AGAIN_AFTER_MS;
    for hold in holds.iter().filter(overdue) {
        send(deps, request, &ReservationId { uuid: hold.uuid, ..id.clone() }, user, hold).await?;
    }
    Ok(())
}

/// If the queue does not take it, the hold and its outbox entry stay: the client's retry sends it again.
async fn send(deps: &Deps, request: &Request, id: &ReservationId, user: &UserId, hold: &Hold) -> Result<(), Problem> {
    let reservation = hold.clone().into_reservation(&id.sale, id.round, LANE, user);
    let trace = request.lambda_context_ref().and_then(|context| context.xray_trace_id.clone());
    let trace = trace.or_else(|| correlation_id(request).map(str::to_owned));
    deps.orders.send(&OrderMessage::new(reservation, trace)).await.map_err(|error| {
        overloaded(error.into())
            .retry_after_s(RETRY_AFTER_S)
            .detail("the unit is yours; send the request again to have it ordered")
            .with("reservation_id", id.to_string())
    })
}
