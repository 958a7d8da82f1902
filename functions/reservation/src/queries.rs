//! Buyers' queries: a reservation's status, their reservations in a sale, their orders.

use std::cmp::Reverse;
use std::collections::HashSet;

use api::{Code, Problem, Reply, caller, json};
use fulfilment::{RESTORING_MS, Status, UserReservations, list_reservations, status};
use futures::future::try_join_all;
use futures::{StreamExt, stream};
use gate::Route;
use http::StatusCode;
use lambda_http::{Request, RequestExt};
use ledger::{ORDERS_PAGE, OrdersPage};
use sale::{EpochMs, MAX_PER_USER_LIMIT, Order, Reservation, ReservationId, ReservationState, Round, SaleId, UserId};

use crate::deps::ReservationDeps;
use crate::document::{Document, OrdersDocument, QUEUED_MS, SaleReservationsDocument};
use crate::expedite;

/// How many rounds a list of orders searches for queued reservations, those that opened last: it bounds the cost.
const MAX_ROUNDS: usize = 20;
const ROUNDS_AT_ONCE: usize = 5;
/// The largest number of reservations on a page: queued ones of all searched rounds, and a page of orders.
pub const MAX_LISTED: u64 = MAX_ROUNDS as u64 * MAX_PER_USER_LIMIT as u64 + ORDERS_PAGE as u64;

pub(crate) async fn reservation(deps: &ReservationDeps, request: &Request, id: &str) -> Reply {
    let (caller, id) = (caller(request)?, id.parse::<ReservationId>()?);
    let at_once = expedite::is_asked_for(request)?;
    deps.gate().limit(request, if at_once { Route::Expedite } else { Route::Poll }, &caller.user)?;
    let now = deps.clock.now();
    let status = status(&deps.fulfilment.stock, &deps.fulfilment.ledger, &deps.snapshots, &id, &caller.user, now).await;
    match status.map_err(Problem::unanswered)? {
        Status::Queued(reservation) if at_once => {
            let order = expedite::expedite(deps, &reservation, now).await;
            Ok(json(StatusCode::OK, &queued_or(deps, &reservation, order, now).await?))
        }
        Status::Queued(reservation) => Ok(json(StatusCode::OK, &waiting_one(deps, request, &reservation, now).await?)),
        Status::Order(order) => document(deps, &order, now).await,
        Status::Restoring => Err(Problem::restoring_reservations()),
        Status::Unknown => Err(Problem::new(Code::UnknownReservation)),
    }
}

pub(crate) async fn of_sale(deps: &ReservationDeps, request: &Request, sale: &str) -> Reply {
    let caller = caller(request)?;
    let sale: SaleId = sale.parse()?;
    deps.gate().limit(request, Route::Poll, &caller.user)?;
    let now = deps.clock.now();
    let round = latest_round(deps, &sale).await?.ok_or_else(|| Problem::new(Code::UnknownSale))?;
    let listed = list_reservations(&deps.fulfilment.stock, &deps.fulfilment.ledger, &round, &caller.user, now).await;
    let UserReservations { queued, orders, restoring } = listed.map_err(Problem::unanswered)?;
    // If Redis lost the round, an order that was written but not confirmed is among the orders.
    let queued: Vec<&Reservation> =
        queued.iter().filter(|reservation| orders.iter().all(|order| order.reservation.id != reservation.id)).collect();
    let waiting: Vec<_> = queued.iter().map(|reservation| waiting_one(deps, request, reservation, now)).collect();
    let waiting = try_join_all(waiting).await?;
    let mut found: Vec<_> = queued.iter().map(|reservation| reservation.reserved_at_ms).zip(waiting).collect();
    for order in &orders {
        found.push((order.reservation.reserved_at_ms, shown(deps, order, now).await?));
    }
    if found.is_empty() && round.terms.gate.is_hidden() {
        // The same answer as for no such sale: a user without a reservation may not be allowed to see this one.
        return Err(Problem::new(Code::UnknownSale));
    }
    found.sort_by_key(|(reserved_at_ms, _)| Reverse(*reserved_at_ms));
    let found = found.into_iter().map(|(_, document)| document).collect();
    Ok(json(StatusCode::OK, &SaleReservationsDocument::of(&round.id, found, restoring)))
}

/// A page of the user's orders. The first page begins with the reservations that have no order yet.
pub(crate) async fn orders(deps: &ReservationDeps, request: &Request) -> Reply {
    let caller = caller(request)?;
    let query = request.query_string_parameters_ref();
    let after = query.and_then(|query| query.first("cursor")).map(cursor).transpose()?;
    deps.gate().limit(request, Route::Orders, &caller.user)?;
    let (is_first, now) = (after.is_none(), deps.clock.now());
    let (queued, page) = futures::join!(
        async { if is_first { queued_of(deps, &caller.user, now).await } else { Vec::new() } },
        deps.fulfilment.ledger.orders_of(&caller.user, after)
    );
    let page = page.map_err(Problem::unanswered)?;
    let queued = without_orders(queued, &page);
    let mut documents: Vec<_> = queued.iter().map(|reservation| Document::queued(reservation, now)).collect();
    // One by one, so that a round's terms are only read once.
    for order in &page.orders {
        documents.push(shown(deps, order, now).await?);
    }
    Ok(json(StatusCode::OK, &OrdersDocument::of(documents, &page)))
}

/// The reservations without an order on the page, newest first.
fn without_orders(mut reservations: Vec<Reservation>, page: &OrdersPage) -> Vec<Reservation> {
    let ordered: HashSet<&ReservationId> = page.orders.iter().map(|order| &order.reservation.id).collect();
    reservations.retain(|reservation| !ordered.contains(&reservation.id));
    reservations.sort_by_key(|reservation| Reverse(reservation.reserved_at_ms));
    reservations
}

/// A user's reservations without an order, as far as Redis answers. If it does not, the list has the orders alone.
async fn queued_of(deps: &ReservationDeps, user: &UserId, now: EpochMs) -> Vec<Reservation> {
    // Whether a reservation in a round with these times may still have no order.
    let may_wait = |opens_at: EpochMs, closes_at: EpochMs| now >= opens_at && now.since_ms(closes_at) < RESTORING_MS;
    let sales = match deps.snapshots.opened_last(MAX_ROUNDS, may_wait).await {
        Ok(sales) => sales,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "orders are listed without queued reservations");
            return Vec::new();
        }
    };
    let held: Vec<_> = sales.iter().map(|sale| held_in(deps, &sale.round, user)).collect();
    stream::iter(held).buffer_unordered(ROUNDS_AT_ONCE).flat_map(stream::iter).collect().await
}

async fn held_in(deps: &ReservationDeps, round: &Round, user: &UserId) -> Vec<Reservation> {
    let reservations = deps.fulfilment.stock.of(round).reservations_of(user).await.unwrap_or_else(|error| {
        tracing::warn!(error = &error as &dyn std::error::Error, round = %round.id, "queued reservations of this round are not listed");
        Vec::new()
    });
    let held = reservations.into_iter().filter(|stored| stored.state == ReservationState::Held);
    held.map(|stored| stored.reservation).collect()
}

/// The latest round of a sale, read again if the sale was published, or the round begun, since the last read.
async fn latest_round(deps: &ReservationDeps, sale: &SaleId) -> Result<Option<Round>, Problem> {
    let mut known = deps.snapshots.of(sale).await.map_err(Problem::unanswered)?;
    if known.sale(sale).is_none() {
        known = deps.snapshots.lately(sale).await.map_err(Problem::unanswered)?;
    }
    Ok(known.sale(sale).map(|cached| cached.round.clone()))
}

/// The status of a reservation that Redis calls held. If it has waited for long, its order is written now.
async fn waiting_one(
    deps: &ReservationDeps,
    request: &Request,
    reservation: &Reservation,
    now: EpochMs,
) -> Result<Document, Problem> {
    if now.since_ms(reservation.reserved_at_ms) < QUEUED_MS {
        return Ok(Document::queued(reservation, now));
    }
    let made = match deps.gate().limit(request, Route::Expedite, &reservation.user) {
        Ok(()) => expedite::expedite(deps, reservation, now).await,
        Err(_) => None,
    };
    queued_or(deps, reservation, made, now).await
}

async fn queued_or(
    deps: &ReservationDeps,
    reservation: &Reservation,
    order: Option<Order>,
    now: EpochMs,
) -> Result<Document, Problem> {
    let order = match order {
        Some(order) => Some(order),
        // The order may exist without Redis knowing it; a user who has seen it must not read "queued" again.
        None => deps.fulfilment.ledger.order(&reservation.id).await.map_err(Problem::unanswered)?,
    };
    let Some(order) = order else { return Ok(Document::queued(reservation, now)) };
    shown(deps, &order, now).await
}

pub(crate) async fn document(deps: &ReservationDeps, order: &Order, now: EpochMs) -> Reply {
    Ok(json(StatusCode::OK, &shown(deps, order, now).await?))
}

async fn shown(deps: &ReservationDeps, order: &Order, now: EpochMs) -> Result<Document, Problem> {
    Ok(Document::of(order, deps.fulfilment.terms.award_of(order).await.map_err(Problem::unanswered)?, now))
}

/// Parses a cursor from [`OrdersDocument`]: `CREATED_AT_MS.RESERVATION_ID`.
fn cursor(text: &str) -> Result<(ReservationId, EpochMs), Problem> {
    let parse = || {
        let (created_at_ms, id) = text.split_once('.')?;
        Some((id.parse().ok()?, EpochMs(created_at_ms.parse().ok()?)))
    };
    parse().ok_or_else(|| Problem::invalid("cursor: take it from an earlier page's next_cursor"))
}
