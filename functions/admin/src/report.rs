//! The totals of a round: sums over its orders, one page at a time. The sums of all pages add up to the round's totals.

use std::collections::{BTreeMap, HashMap};

use api::{Problem, Reply, json};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use ledger::NotedPayment;
use sale::{Currency, EpochMs, Order, OrderState, ReservationId, SaleId, Settlement};
use serde::Serialize;
use strum::VariantArray;

use crate::deps::AdminDeps;
use crate::export::Place;
use crate::lookup::{round_of, round_with, sale_of};
use crate::query::{Cursor, Query, mark};

/// How many orders a page covers: as many as a page of an export.
const PAGE: usize = 1_000;
/// How many payments of an order are looked up. More than one is a mistake of the provider's.
const MAX_PAYMENTS: usize = 100;

#[derive(Serialize)]
struct ReportDocument {
    sale_id: SaleId,
    round: u32,
    title: String,
    opens_at: Timestamp,
    closes_at: Timestamp,
    total: u32,
    currency: Currency,
    settlement: Settlement,
    /// All pages cover the orders that were made before this time.
    as_of: Timestamp,
    #[serde(flatten)]
    sums: Sums,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Sums {
    /// How many orders are in each state, by the status that users see.
    orders: BTreeMap<&'static str, u32>,
    revenue_minor: u64,
    /// Payments that orders could not take, by currency.
    refunds: BTreeMap<String, Refunds>,
    /// When the last unit that now has an order was reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_kept_at: Option<Timestamp>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
struct Refunds {
    due: u32,
    due_minor: u64,
    made: u32,
    made_minor: u64,
}

impl Sums {
    fn of(orders: &[Order], payments: &HashMap<&str, &NotedPayment>) -> Self {
        let mut sums =
            Self { orders: OrderState::VARIANTS.iter().map(|state| (state.status(), 0)).collect(), ..Self::default() };
        let mut last_kept: Option<EpochMs> = None;
        for order in orders {
            *sums.orders.entry(order.state.status()).or_default() += 1;
            if order.state.is_live() {
                last_kept = last_kept.max(Some(order.reservation.reserved_at_ms));
            }
            if order.state == OrderState::Paid {
                sums.revenue_minor += order.price.map_or(0, |price| price.price_minor);
            }
            for id in order.refunds_due.iter().take(MAX_PAYMENTS) {
                let Some(NotedPayment { price, .. }) = payments.get(id.as_str()) else { continue };
                let refunds = sums.refunds.entry(price.currency.to_string()).or_default();
                if order.refunds_made.contains(id) {
                    refunds.made += 1;
                    refunds.made_minor += price.price_minor;
                } else {
                    refunds.due += 1;
                    refunds.due_minor += price.price_minor;
                }
            }
        }
        sums.last_kept_at = last_kept.map(Timestamp::from);
        sums
    }
}

/// Returns one page. The cursor has the time at which the first page was requested, as in an export.
pub(crate) async fn page(deps: &AdminDeps, request: &Request, sale: &str, round: &str) -> Reply {
    let query = Query::new(request, &["cursor"])?;
    let number = round.parse()?;
    let latest = sale_of(deps, sale).await?;
    let id = round_of(&latest.offer, number)?;
    let mark = mark(&format!("{id} report"));
    let Place { until, after } = Place::of(&query, &mark, &id, deps.clock.now())?;
    let found = deps.ledger.order_ids_in_turn(&id, until, after.as_ref(), PAGE);
    let (round, found) = tokio::join!(round_with(deps, latest, &id), found);
    let (terms, found) = (round?.terms, found.map_err(Problem::unanswered)?);
    let orders = deps.ledger.orders_in_turn(&found.ids).await.map_err(Problem::unanswered)?;
    let wanted: Vec<_> = orders.iter().flat_map(|order| order.refunds_due.iter().take(MAX_PAYMENTS)).cloned().collect();
    let noted = deps.ledger.payments(&wanted).await.map_err(Problem::unanswered)?;
    let payments = noted.iter().map(|payment| (payment.payment_id.as_str(), payment)).collect();
    let cursor = |(created_at_ms, id): (EpochMs, ReservationId)| {
        format!("{}.{}", until.0, Cursor { created_at_ms, id, mark: mark.clone() })
    };
    let document = ReportDocument {
        round: id.number.0,
        sale_id: id.sale,
        title: terms.title,
        opens_at: terms.opens_at_ms.into(),
        closes_at: terms.closes_at_ms.into(),
        total: terms.total,
        currency: terms.price.currency,
        settlement: terms.settlement,
        as_of: until.into(),
        sums: Sums::of(&orders, &payments),
        next_cursor: found.ids.last().cloned().filter(|_| found.more).map(cursor),
    };
    Ok(json(StatusCode::OK, &document))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn order(n: u32, state: &str, more: Value) -> Order {
        let mut order = json!({
            "id": format!("lamp.1.{n:032x}"), "user": format!("u{n}"), "state": state, "lane": 0, "unit": n, "slot": 1,
            "reserved_at_ms": i64::from(n) * 1_000, "created_at_ms": i64::from(n) * 1_000 + 5, "price_minor": 990, "currency": "EUR",
        });
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(order).unwrap()
    }

    fn payment(id: &str, n: u32, currency: &str) -> NotedPayment {
        NotedPayment {
            payment_id: id.to_owned(),
            reservation_id: format!("lamp.1.{n:032x}").parse().unwrap(),
            price: sale::Price { price_minor: 990, currency: currency.parse().unwrap() },
            noted_at_ms: EpochMs(1),
            refund_due_at_ms: Some(EpochMs(1)),
            refunded: None,
        }
    }

    #[test]
    fn each_order_is_summed_up_once() {
        let orders = [
            order(1, "PAID", json!({ "refunds_due": ["twice", "yen", "unknown"], "refunds_made": ["twice"] })),
            order(2, "PAID", json!({})),
            order(3, "PENDING", json!({})),
            order(9, "EXPIRED", json!({ "refunds_due": ["late"] })),
        ];
        let noted = [payment("twice", 1, "EUR"), payment("yen", 1, "JPY"), payment("late", 9, "EUR")];
        let sums = Sums::of(&orders, &noted.iter().map(|one| (one.payment_id.as_str(), one)).collect());
        let refunds =
            |due, made| Refunds { due, due_minor: u64::from(due) * 990, made, made_minor: u64::from(made) * 990 };
        assert_eq!(sums.revenue_minor, 2 * 990);
        assert_eq!(sums.refunds, [("EUR".to_owned(), refunds(1, 1)), ("JPY".to_owned(), refunds(1, 0))].into());
        assert_eq!(sums.orders["paid"] + sums.orders["pending_payment"] + sums.orders["expired"], 4);
        // An expired order has no unit any more.
        assert_eq!(sums.last_kept_at, Some(EpochMs(3_000).into()));
        assert_eq!(Sums::of(&[], &HashMap::new()).last_kept_at, None);
    }
}
