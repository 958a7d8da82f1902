use api::{Code, Problem, Reply, caller, correlation_id, idempotency_key, json, no_body};
use cache::Moment;
use http::StatusCode;
use http::header::LOCATION;
use lambda_http::{Request, RequestExt};
use queue::OrderMessage;
use sale::{Claim, ClaimState, Entry, ReservationId, RoundId, SaleId};
use serde::Serialize;
use stock::Reserve;

use crate::{Deps, RETRY_AFTER_S, door, overloaded};

/// A claim without an order after so long may never have reached the queue. Below it, its message is most likely under
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
    no_body(request)?;
    let key = idempotency_key(request)?;
    if admitted.is_sold_out(&caller.user, Moment::now(deps.clock)) {
        return Err(Problem::new(Code::SoldOut));
    }
    if let Some(cached) = admitted.sale.as_ref().filter(|cached| cached.round.isolated_requests_per_s.is_some()) {
        Box::pin(door::take_turn(deps, cached)).await?;
    }
    let round = RoundId { sale, number: admitted.pass.round };
    let id = match key {
        Some(key) => ReservationId::derived(round, &caller.user, key),
        None => ReservationId::of_pass(round, &caller.user, token, admitted.pass.issued_at_ms),
    };
    let asked = Moment::now(deps.clock);
    let answer = deps.stock.round(&id.round).reserve(id.uuid, &caller.user).await;
    match answer.map_err(|error| overloaded(error.into()))? {
        Reserve::Reserved(claim) | Reserve::Replayed(Entry { claim, state: ClaimState::Held }) => {
            accept(deps, request, id, claim).await
        }
        Reserve::Replayed(_) => Ok(accepted(id)),
        Reserve::AlreadyReserved(entries) => {
            let ids: Vec<String> = entries.iter().map(|entry| entry.claim.id.to_string()).collect();
            send_overdue(deps, request, entries).await?;
            Err(Problem::new(Code::LimitReached).with("reservation_ids", ids))
        }
        Reserve::TooManyUnpaid(count) => {
            let ended = if count == 1 { "reservation" } else { "reservations" };
            let detail = format!("{count} {ended} of yours ended unpaid, and this sale allows no more");
            Err(Problem::new(Code::UnpaidLimit).detail(detail))
        }
        Reserve::SoldOut { last_won_at_ms, lasts } => {
            if let Some(cached) = admitted.sale.filter(|cached| cached.round.id == id.round) {
                cached.sold_out.heard(&deps.stock, &id.round, asked, last_won_at_ms, lasts);
            }
            Err(Problem::new(Code::SoldOut))
        }
        Reserve::NotOpen(opens_at) => Err(Problem::not_open(opens_at, deps.clock.now())),
        Reserve::Closed => Err(Problem::new(Code::Closed)),
        Reserve::Paused => Err(Problem::paused()),
        Reserve::Denied => Err(Problem::new(Code::Denied)),
        Reserve::UnknownSale => Err(Box::pin(not_in_redis(deps, &id.round)).await),
    }
}

/// A round that Redis does not have: it is not loaded yet, is over, or is lost and will be back. The pass proves that it was
/// published, so a snapshot that does not have it is older than that, and nobody may hear that it does not exist.
async fn not_in_redis(deps: &Deps, round: &RoundId) -> Problem {
    let now = deps.clock.now();
    let snapshot = match deps.snapshots.now().await {
        Ok(snapshot) => snapshot,
        Err(error) => return overloaded(error.into()),
    };
    match snapshot.latest_round(round) {
        Some(latest) if latest.id != *round || latest.is_over(now) => Problem::new(Code::Closed),
        Some(latest) if now < latest.terms.opens_at_ms => Problem::not_open(latest.terms.opens_at_ms, now),
        _ => Problem::restoring(),
    }
}

async fn accept(deps: &Deps, request: &Request, id: ReservationId, claim: Claim) -> Reply {
    let unit = claim.unit.0;
    send(deps, request, claim).await?;
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

/// A client that lost its answer and sends no key meets its own reservation here: its message may never have been sent.
async fn send_overdue(deps: &Deps, request: &Request, entries: Vec<Entry>) -> Result<(), Problem> {
    let now = deps.clock.now();
    let held = entries.into_iter().filter(|entry| entry.state == ClaimState::Held).map(|entry| entry.claim);
    for claim in held.filter(|claim| now.since_ms(claim.reserved_at_ms) >= SEND_AGAIN_AFTER_MS) {
        send(deps, request, claim).await?;
    }
    Ok(())
}

/// If the queue does not take it, the claim and its outbox entry stay: the client's retry sends it again.
async fn send(deps: &Deps, request: &Request, claim: Claim) -> Result<(), Problem> {
    let trace = request.lambda_context_ref().and_then(|context| context.xray_trace_id.clone());
    let trace = trace.or_else(|| correlation_id(request).map(str::to_owned));
    let message = OrderMessage::new(claim, trace);
    deps.orders.send(&message).await.map_err(|error| {
        overloaded(error.into())
            .retry_after_s(RETRY_AFTER_S)
            .detail("the unit is yours; send the request again to have it ordered")
            .with("reservation_id", message.claim.id.to_string())
    })
}
