//! Finds orders by sale, round, state, user and time, and shows one with its history.

use api::{Code, Problem, Reply, json};
use http::StatusCode;
use lambda_http::Request;
use ledger::{Direction, TimeRange};
use sale::{EpochMs, InvalidId, Order, OrderState, ReservationId, RoundId, RoundNumber, SaleId, UserId};
use strum::VariantArray;

use crate::deps::AdminDeps;
use crate::lookup::{round_of, sale_of};
use crate::order_document::{OrderDocument, OrderHistory, OrdersDocument};
use crate::query::{Cursor, Query};

/// The default and largest number of orders on a page.
const USUAL_PAGE: usize = 50;
const MAX_PAGE: usize = 100;
/// How many orders a request reads at most to find those in a state: some tens of calls, which take a second or two.
const MAX_READ: usize = 1_000;
/// How many orders are read at once: one call to DynamoDB.
const READ_AT_ONCE: usize = 100;
/// How many payments of an order are shown. More than one is a mistake of the provider's.
const MAX_PAYMENTS: usize = 100;

const FILTERS: [&str; 6] = ["sale", "round", "state", "user", "from", "to"];
const PARAMETERS: [&str; 8] = ["sale", "round", "state", "user", "from", "to", "cursor", "limit"];

struct Wanted {
    state: Option<OrderState>,
    range: TimeRange,
    limit: usize,
    mark: String,
    cursor: Option<Cursor>,
}

#[derive(Default)]
struct Page {
    orders: Vec<OrderDocument>,
    read: usize,
    /// The last order read, shown or not.
    last: Option<(EpochMs, ReservationId)>,
}

/// A page of orders, newest first.
pub(crate) async fn list(deps: &AdminDeps, request: &Request) -> Reply {
    let query = Query::new(request, &PARAMETERS)?;
    let invalid = |error: InvalidId| error.to_string();
    let sale: Option<SaleId> = query.parsed("sale", |text| text.parse().map_err(invalid))?;
    let round: Option<RoundNumber> = query.parsed("round", |text| text.parse().map_err(invalid))?;
    let user: Option<UserId> = query.parsed("user", |text| text.parse().map_err(invalid))?;
    let state = query.parsed("state", state)?;
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    if from.zip(to).is_some_and(|(from, to)| from >= to) {
        return Err(Problem::invalid("to: later than from"));
    }
    let mark = query.mark(&FILTERS);
    let wanted = Wanted {
        state,
        range: TimeRange {
            from: from.unwrap_or(TimeRange::ALL.from),
            to: to.map_or(TimeRange::ALL.to, |to| EpochMs(to.0.saturating_sub(1))),
        },
        limit: query.limit(USUAL_PAGE, MAX_PAGE)?,
        cursor: query.get("cursor").map(|text| Cursor::parse(text, &mark)).transpose()?,
        mark,
    };
    match (sale, round, user) {
        (None, Some(_), _) => Err(Problem::invalid("round: only with sale")),
        (None, None, None) => Err(Problem::invalid("sale: give a sale or a user")),
        (sale, round, Some(user)) => of_user(deps, &wanted, &user, sale.as_ref(), round).await,
        (Some(sale), round, None) => {
            let offer = sale_of(deps, sale.as_str()).await?.offer;
            // Later pages stay in the first page's round, even if the next round has begun since.
            let round = round.or(wanted.cursor.as_ref().map(|cursor| cursor.id.round.number));
            of_round(deps, &wanted, &round_of(&offer, round.unwrap_or(offer.latest_round))?).await
        }
    }
}

async fn of_round(deps: &AdminDeps, wanted: &Wanted, round: &RoundId) -> Reply {
    let mut after = wanted.cursor.as_ref().map(|cursor| (cursor.created_at_ms, cursor.id.clone()));
    if after.as_ref().is_some_and(|(_, id)| id.round != *round) {
        return Err(crate::query::bad_cursor());
    }
    // Read before any order.
    let awards = deps.terms.awards_of_round(round).await.map_err(Problem::unanswered)?;
    let mut page = Page::default();
    loop {
        let at_once = if wanted.state.is_some() { READ_AT_ONCE } else { wanted.limit - page.orders.len() };
        let ids = deps.ledger.order_ids(round, wanted.range, Direction::NewestFirst, after.as_ref(), at_once);
        let found = ids.await.map_err(Problem::unanswered)?;
        let orders = deps.ledger.orders_in_turn(&found.ids).await.map_err(Problem::unanswered)?;
        let end = found.ids.last().cloned();
        let mut orders = orders.into_iter();
        while page.orders.len() < wanted.limit
            && let Some(order) = orders.next()
        {
            page.count(&order);
            if wanted.takes(&order) {
                let award = awards.of(&order);
                page.orders.push(OrderDocument::of(order, award));
            }
        }
        let more = found.more || orders.len() > 0;
        if !more || page.is_full(wanted) {
            return Ok(page.reply(wanted, more));
        }
        // The last one may have left the table while still being in the index.
        (page.last, after) = (end.clone(), end);
    }
}

async fn of_user(
    deps: &AdminDeps,
    wanted: &Wanted,
    user: &UserId,
    sale: Option<&SaleId>,
    round: Option<RoundNumber>,
) -> Reply {
    let takes = |order: &Order| {
        let of = &order.reservation.id.round;
        sale.is_none_or(|sale| of.sale == *sale) && round.is_none_or(|round| of.number == round) && wanted.takes(order)
    };
    let mut after = wanted.cursor.as_ref().map(|cursor| (cursor.id.clone(), cursor.created_at_ms));
    if after.as_ref().is_some_and(|(_, at_ms)| *at_ms < wanted.range.from || *at_ms > wanted.range.to) {
        return Err(crate::query::bad_cursor());
    }
    let mut page = Page::default();
    loop {
        let found = deps.ledger.orders_of_within(user, wanted.range, after, READ_AT_ONCE as i32).await;
        let found = found.map_err(Problem::unanswered)?;
        let mut orders = found.orders.into_iter();
        while page.orders.len() < wanted.limit
            && let Some(order) = orders.next()
        {
            page.count(&order);
            if takes(&order) {
                let award = deps.terms.award_of(&order).await.map_err(Problem::unanswered)?;
                page.orders.push(OrderDocument::of(order, award));
            }
        }
        let more = found.next.is_some() || orders.len() > 0;
        if !more || page.is_full(wanted) {
            return Ok(page.reply(wanted, more));
        }
        after = found.next;
    }
}

impl Wanted {
    fn takes(&self, order: &Order) -> bool {
        self.state.is_none_or(|state| order.state == state)
    }
}

impl Page {
    fn count(&mut self, order: &Order) {
        self.read += 1;
        self.last = Some((order.created_at_ms, order.reservation.id.clone()));
    }

    const fn is_full(&self, wanted: &Wanted) -> bool {
        self.orders.len() >= wanted.limit || self.read >= MAX_READ
    }

    fn reply(self, wanted: &Wanted, more: bool) -> lambda_http::Response<lambda_http::Body> {
        let cursor = |(created_at_ms, id)| Cursor { created_at_ms, id, mark: wanted.mark.clone() }.to_string();
        let next_cursor = self.last.filter(|_| more).map(cursor);
        json(StatusCode::OK, &OrdersDocument { orders: self.orders, next_cursor })
    }
}

pub(crate) async fn get_order(deps: &AdminDeps, id: &str) -> Reply {
    let order = deps.ledger.order(&id.parse()?).await.map_err(Problem::unanswered)?;
    let order = order.ok_or_else(|| Problem::new(Code::UnknownReservation))?;
    let payments: Vec<String> = order.payment_id.iter().chain(&order.refunds_due).take(MAX_PAYMENTS).cloned().collect();
    let noted = deps.ledger.payments(&payments).await.map_err(Problem::unanswered)?;
    let award = deps.terms.award_of(&order).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &OrderHistory::of(order, award, &noted)))
}

fn state(text: &str) -> Result<OrderState, String> {
    let state = OrderState::VARIANTS.iter().find(|state| state.status() == text);
    let names = || OrderState::VARIANTS.iter().map(|state| state.status()).collect::<Vec<_>>().join(", ");
    state.copied().ok_or_else(|| format!("one of {}", names()))
}
