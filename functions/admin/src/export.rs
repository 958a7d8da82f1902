//! Exports all orders of a round page by page: CSV for spreadsheets, JSON Lines for programs.

use std::borrow::Cow;

use api::{Problem, Reply};
use csv::{Terminator, WriterBuilder};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LINK};
use lambda_http::{Body, Request, Response};
use sale::{EpochMs, ReservationId, RoundId, ShownAward};

use crate::deps::AdminDeps;
use crate::lookup::{round_of, sale_of};
use crate::order_document::OrderDocument;
use crate::query::{Cursor, Query, bad_cursor, mark};

/// Rows in a page: ten calls to DynamoDB, and at most one of the six megabytes that a Lambda response may have.
const PAGE: usize = 1_000;
const ROWS: &str = "export-rows";
/// Header on the first page, with roughly the number of rows of all pages.
const ROWS_ABOUT: &str = "export-rows-about";

const COLUMNS: [&str; 18] = [
    "reservation_id",
    "sale_id",
    "round",
    "user",
    "unit",
    "state",
    "price_minor",
    "currency",
    "award",
    "award_minor",
    "prize",
    "reserved_at",
    "ordered_at",
    "pay_by",
    "ended_at",
    "reason",
    "payment_id",
    "refund",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Jsonl,
}

/// A position in an export: the time before which its orders were made, and the last order already exported.
pub(crate) struct Place {
    pub(crate) until: EpochMs,
    pub(crate) after: Option<(EpochMs, ReservationId)>,
}

/// Returns one page. The cursor has the time of the first: an export covers the orders before it, and so ends for sure.
pub(crate) async fn page(deps: &AdminDeps, request: &Request, sale: &str, round: &str) -> Reply {
    let query = Query::new(request, &["format", "cursor"])?;
    let name = query.get("format").unwrap_or("csv");
    let format = match name {
        "csv" => Format::Csv,
        "jsonl" => Format::Jsonl,
        _ => return Err(Problem::invalid("format: csv or jsonl")),
    };
    let number = round.parse()?;
    let round = round_of(&sale_of(deps, sale).await?.offer, number)?;
    let mark = mark(&format!("{round} {name}"));
    let Place { until, after } = Place::of(&query, &mark, &round, deps.clock.now())?;
    let is_first = after.is_none();
    // Read before any order.
    let awards = deps.terms.awards_of_round(&round).await.map_err(Problem::unanswered)?;
    let ids = deps.ledger.order_ids_in_turn(&round, until, after.as_ref(), PAGE);
    let found = ids.await.map_err(Problem::unanswered)?;
    let orders = deps.ledger.orders_in_turn(&found.ids).await.map_err(Problem::unanswered)?;
    let rows = orders.len();
    let documents = orders.into_iter().map(|order| {
        let award = awards.of(&order);
        OrderDocument::of(order, award)
    });
    let body = match format {
        Format::Csv => csv(documents, is_first),
        Format::Jsonl => documents.map(|document| json_line(&document)).collect(),
    };
    let response = Response::builder().header(CONTENT_TYPE, format.content_type(is_first));
    let mut response = response.header(CACHE_CONTROL, "no-store").header(ROWS, rows);
    if is_first {
        let about = if found.more {
            deps.ledger.count_orders_about(&round, until).await.map_err(Problem::unanswered)?
        } else {
            rows as u64
        };
        response = response.header(ROWS_ABOUT, about);
    }
    if let (true, Some((created_at_ms, id))) = (found.more, found.ids.last().cloned()) {
        let cursor = Cursor { created_at_ms, id, mark };
        let RoundId { sale, number } = &round;
        let next = format!("/v1/admin/sales/{sale}/rounds/{number}/orders?format={name}&cursor={}.{cursor}", until.0);
        response = response.header(LINK, format!("<{next}>; rel=\"next\""));
    }
    Ok(response.body(Body::Text(body)).expect("every header above is a plain value"))
}

impl Place {
    /// Parses the query's cursor, `UNTIL_MS.CURSOR`. Without one, it is the first page.
    pub(crate) fn of(query: &Query, mark: &str, round: &RoundId, now: EpochMs) -> Result<Self, Problem> {
        let Some(text) = query.get("cursor") else { return Ok(Self { until: now, after: None }) };
        let (until, cursor) = text.split_once('.').ok_or_else(bad_cursor)?;
        let Cursor { created_at_ms, id, .. } = Cursor::parse(cursor, mark)?;
        let is_written = |moment: &EpochMs| moment.0.to_string() == until;
        let until = until.parse().ok().map(EpochMs).filter(is_written).ok_or_else(bad_cursor)?;
        if id.round == *round { Ok(Self { until, after: Some((created_at_ms, id)) }) } else { Err(bad_cursor()) }
    }
}

impl Format {
    /// The content type of a page. Only the first page of a CSV has the header row.
    const fn content_type(self, is_first: bool) -> &'static str {
        match (self, is_first) {
            (Self::Csv, true) => "text/csv; charset=utf-8; header=present",
            (Self::Csv, false) => "text/csv; charset=utf-8; header=absent",
            (Self::Jsonl, _) => "application/jsonl",
        }
    }
}

/// Without this mark at the beginning of a file, Excel takes UTF-8 for the legacy encoding of its country.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Formats rows by RFC 4180.
fn csv(rows: impl Iterator<Item = OrderDocument>, is_first: bool) -> String {
    let start = if is_first { BYTE_ORDER_MARK.to_string() } else { String::new() };
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(start.into_bytes());
    let plain = "writing to memory cannot fail, and all rows have the same length";
    if is_first {
        writer.write_record(COLUMNS).expect(plain);
    }
    for row in rows {
        writer.write_record(cells(&row).map(|cell| harmless(&cell).into_owned())).expect(plain);
    }
    String::from_utf8(writer.into_inner().expect(plain)).expect("cells are text")
}

fn cells(row: &OrderDocument) -> [String; COLUMNS.len()] {
    let (award, award_minor, prize) = match &row.award {
        Some(ShownAward::Amount { amount_minor, .. }) => ("amount", amount_minor.to_string(), String::new()),
        Some(ShownAward::Prize { prize }) => ("prize", String::new(), prize.clone()),
        Some(ShownAward::Blank) => ("blank", String::new(), String::new()),
        Some(ShownAward::Entered) => ("entered", String::new(), String::new()),
        None => ("", String::new(), String::new()),
    };
    let moment = |at: Option<jiff::Timestamp>| at.map(|at| EpochMs::from(at).to_string()).unwrap_or_default();
    [
        row.reservation_id.to_string(),
        row.sale_id.to_string(),
        row.round.to_string(),
        row.user.to_string(),
        row.unit.to_string(),
        row.state.to_owned(),
        row.price.map(|price| price.price_minor.to_string()).unwrap_or_default(),
        row.price.map(|price| price.currency.to_string()).unwrap_or_default(),
        award.to_owned(),
        award_minor,
        prize,
        moment(Some(row.reserved_at)),
        moment(Some(row.ordered_at)),
        moment(row.pay_by),
        moment(row.ended_at),
        row.reason.map(|reason| reason.as_str().to_owned()).unwrap_or_default(),
        row.payment_id.clone().unwrap_or_default(),
        row.refund.map(|refund| refund.as_str().to_owned()).unwrap_or_default(),
    ]
}

/// A cell that no spreadsheet takes for a formula: users choose their ids, and a formula could send the sheet's data
/// away. As OWASP advises ("CSV Injection"), puts a quote in front of what begins like a formula, also after characters
/// at which a spreadsheet may split cells.
fn harmless(cell: &str) -> Cow<'_, str> {
    const OPERATORS: [char; 4] = ['=', '+', '-', '@'];
    const BLANKS: [char; 3] = ['\t', '\r', '\n'];
    const SPLITS: [char; 6] = [';', ',', '"', '\t', '\r', '\n'];
    let begins = |before: Option<char>, at: char| match before {
        None => OPERATORS.contains(&at) || BLANKS.contains(&at),
        Some(before) => SPLITS.contains(&before) && OPERATORS.contains(&at),
    };
    let befores = || std::iter::once(None).chain(cell.chars().map(Some));
    if !befores().zip(cell.chars()).any(|(before, at)| begins(before, at)) {
        return cell.into();
    }
    let quote = |(before, at)| begins(before, at).then_some('\'').into_iter().chain([at]);
    befores().zip(cell.chars()).flat_map(quote).collect::<String>().into()
}

fn json_line(row: &OrderDocument) -> String {
    serde_json::to_string(row).expect("an order has text keys and plain values only") + "\n"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(user: &str, prize: &str) -> OrderDocument {
        let id = format!("lamp.1.{}", "0".repeat(32));
        let order = json!({
            "id": id, "user": user, "state": "GRANTED", "lane": 0, "unit": 17, "slot": 1,
            "reserved_at_ms": 1_795_510_800_123_i64, "created_at_ms": 1_795_510_800_456_i64, "price_minor": 0,
            "currency": "EUR",
        });
        OrderDocument::of(serde_json::from_value(order).unwrap(), Some(ShownAward::Prize { prize: prize.to_owned() }))
    }

    #[test]
    fn no_cell_is_a_formula_and_every_cell_comes_back() {
        let rows = [
            (("=1+1", "A \"good\" cup, red"), ("'=1+1", "A \"good\" cup, red")),
            (("+7", "@x"), ("'+7", "'@x")),
            (("-7", "\tx"), ("'-7", "'\tx")),
            (("@a", "line\r\nbreak"), ("'@a", "line\r\nbreak")),
            (("a=b", "plain"), ("a=b", "plain")),
            (("x;=1+1;y", "a,\"@b"), ("x;'=1+1;y", "a,\"'@b")),
        ];
        let text = csv(rows.iter().map(|((user, prize), _)| row(user, prize)), true);
        let after_mark = text.strip_prefix(BYTE_ORDER_MARK).expect("Excel shows Chinese as garbage otherwise");
        let mut reader = csv::Reader::from_reader(after_mark.as_bytes());
        assert_eq!(reader.headers().unwrap(), &COLUMNS[..]);
        let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let column = |name| COLUMNS.iter().position(|column| *column == name).unwrap();
        let cells: Vec<(&str, &str)> = read.iter().map(|row| (&row[column("user")], &row[column("prize")])).collect();
        assert_eq!(cells, rows.map(|(_, expected)| expected));
        assert!(text.contains("\"A \"\"good\"\" cup, red\""), "{text}");
        assert!(text.ends_with("\r\n"));
        let further = csv([row("a", "b")].into_iter(), false);
        assert!(!further.contains("reservation_id") && !further.contains(BYTE_ORDER_MARK), "{further}");
    }
}
