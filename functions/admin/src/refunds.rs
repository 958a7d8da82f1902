//! Payments that an order could not take: lists those to refund, and marks them as refunded.

use std::collections::HashMap;

use api::{Code, Problem, Reply, caller, json, json_body};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use ledger::{NotedPayment, Refund, RefundsPage};
use sale::{EpochMs, MAX_PAYMENT_ID_LENGTH, Order, Price, ReservationId, UserId};
use serde::{Deserialize, Serialize};

use crate::deps::AdminDeps;
use crate::query::{Query, bad_cursor};

/// The default and largest number of refunds on a page.
const USUAL_PAGE: usize = 50;
const MAX_PAGE: usize = 100;

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct RefundDocument {
    payment_id: String,
    reservation_id: ReservationId,
    /// Absent if the order is gone.
    user: Option<UserId>,
    /// The order's status as its user sees it.
    order_state: Option<&'static str>,
    #[serde(flatten)]
    price: Price,
    due_at: Timestamp,
    refunded_at: Option<Timestamp>,
    refunded_by: Option<UserId>,
}

#[derive(Serialize)]
struct RefundsDocument {
    refunds: Vec<RefundDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct MarkedDocument {
    #[serde(flatten)]
    refund: RefundDocument,
    /// False if an earlier request marked it.
    changed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    payment_id: String,
}

impl RefundDocument {
    fn of(payment: NotedPayment, order: Option<&Order>) -> Self {
        let NotedPayment { payment_id, reservation_id, price, noted_at_ms, refund_due_at_ms, refunded } = payment;
        let (refunded_at, refunded_by) = refunded.map(|refunded| (refunded.at_ms.into(), refunded.by)).unzip();
        let (user, order_state) = order.map(|order| (order.reservation.user.clone(), order.state.status())).unzip();
        let due_at = refund_due_at_ms.unwrap_or(noted_at_ms).into();
        Self { payment_id, reservation_id, user, order_state, price, due_at, refunded_at, refunded_by }
    }
}

/// A page of the payments to refund, the longest due first.
pub(crate) async fn list(deps: &AdminDeps, request: &Request) -> Reply {
    let query = Query::new(request, &["cursor", "limit"])?;
    let after = query.get("cursor").map(cursor).transpose()?;
    let found = deps.ledger.refunds_due(after.as_ref(), query.limit(USUAL_PAGE, MAX_PAGE)?).await;
    let RefundsPage { refunds, next } = found.map_err(Problem::unanswered)?;
    let mut ids: Vec<ReservationId> = refunds.iter().map(|payment| payment.reservation_id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    let orders = deps.ledger.orders(&ids).await.map_err(Problem::unanswered)?;
    let orders: HashMap<&ReservationId, &Order> = orders.iter().map(|order| (&order.reservation.id, order)).collect();
    let document = |payment: NotedPayment| {
        let order = orders.get(&payment.reservation_id).copied();
        RefundDocument::of(payment, order)
    };
    let refunds = refunds.into_iter().map(document).collect();
    Ok(json(StatusCode::OK, &RefundsDocument { refunds, next_cursor: next.map(written) }))
}

/// Marks a payment as refunded, once. A repeated request returns when it was marked and by whom.
pub(crate) async fn mark(deps: &AdminDeps, request: &Request) -> Reply {
    let Mark { payment_id } = json_body(request)?;
    if !(1..=MAX_PAYMENT_ID_LENGTH).contains(&payment_id.len()) || !payment_id.bytes().all(|b| b.is_ascii_graphic()) {
        let bound = MAX_PAYMENT_ID_LENGTH;
        return Err(Problem::invalid(format!("payment_id: 1 to {bound} printable ASCII characters without spaces")));
    }
    let operator = caller(request)?.user;
    let marked = deps.ledger.mark_refunded(&payment_id, &operator, deps.clock.now()).await;
    let (payment, changed) = match marked.map_err(Problem::unanswered)? {
        Refund::Marked(payment) => (payment, true),
        Refund::Before(payment) => (payment, false),
        Refund::NotDue => return Err(Problem::new(Code::UnknownRefund)),
    };
    if changed {
        tracing::warn!(%operator, payment_id, reservation_id = %payment.reservation_id, "marked as refunded");
    }
    let order = deps.ledger.order(&payment.reservation_id).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &MarkedDocument { refund: RefundDocument::of(payment, order.as_ref()), changed }))
}

/// Formats a cursor. Providers choose their ids, which may have any character, so the id is in Base64.
fn written((due_at_ms, payment_id): (EpochMs, String)) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{payment_id}", due_at_ms.0))
}

fn cursor(text: &str) -> Result<(EpochMs, String), Problem> {
    let parse = || {
        let read = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (due_at_ms, payment_id) = read.split_once('.')?;
        let cursor = (EpochMs(due_at_ms.parse().ok()?), payment_id.to_owned());
        let is_written = (1..=MAX_PAYMENT_ID_LENGTH).contains(&payment_id.len()) && written(cursor.clone()) == text;
        is_written.then_some(cursor)
    };
    parse().ok_or_else(bad_cursor)
}
