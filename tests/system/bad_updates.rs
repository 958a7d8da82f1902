//! Operators' bad requests while a sale runs.

use crate::bad_requests::{Bad, about_sales, bad, bad_keys, invalid, with, with_bodies, wrong_types};
use crate::prelude::*;

fn ask(sale: &str, what: &str) -> Ask {
    Ask::post(format!("/v1/admin/sales/{sale}/{what}")).by_operator()
}

/// Every bad request to update a round, or to redrive.
pub(crate) fn all() -> Vec<Bad> {
    let first = json!({ "round": 1 });
    let mut cases = Vec::new();
    for what in ["pause", "resume", "close", "end_recurrence"] {
        cases.extend(of_round(what, &first, false));
    }
    let throttle = json!({ "round": 1, "requests_per_s": 5 });
    cases.extend(of_round("throttle", &throttle, false));
    for limit in [None, Some(json!(0)), Some(json!(100_001))] {
        cases.push(invalid(format!("throttle: {limit:?}"), keyed("throttle", &throttle, "requests_per_s", limit)));
    }
    let restock = json!({ "round": 1, "units": 1 });
    cases.extend(of_round("restock", &restock, true));
    let of = |units: Option<Value>| keyed("restock", &restock, "units", units);
    for units in wrong_types().into_iter().chain([json!("1"), json!(0), json!(10_000_001), json!(4_294_967_296u64)]) {
        cases.push(invalid(format!("restock: {units} units"), of(Some(units))));
    }
    cases.push(invalid("restock: no units", of(None)));
    cases.extend(rain());
    cases.extend(life());

    let redrive = |queue: &str| Ask::post(format!("/v1/admin/redrive/{queue}")).by_operator();
    cases.extend(with_bodies("redrive", &redrive("orders")));
    for queue in ["nowhere", "Orders", "orders%00", "orders-dlq", "%FF"] {
        cases.push(bad("redrive: queue", redrive(queue), 404, "unknown_route"));
    }
    cases
}

fn keyed(what: &str, good: &Value, member: &str, value: Option<Value>) -> Ask {
    ask(SALE, what).header("idempotency-key", "key-1").json(&with(good, member, value))
}

/// What is refused of every update of a round.
fn of_round(what: &str, good: &Value, needs_key: bool) -> Vec<Bad> {
    let of_sale = |sale: &str| ask(sale, what).header("idempotency-key", "key-1").json(good);
    let mut cases = with_bodies(what, &ask(SALE, what).header("idempotency-key", "key-1"));
    cases.extend(about_sales(what, of_sale));
    for round in wrong_types().into_iter().chain([json!("1"), json!(4_294_967_296u64)]) {
        cases.push(invalid(format!("{what}: round {round}"), keyed(what, good, "round", Some(round))));
    }
    cases.push(invalid(format!("{what}: no round"), keyed(what, good, "round", None)));
    let other = keyed(what, good, "round", Some(json!(2)));
    cases.push(bad(format!("{what}: another round"), other, 409, "round_changed"));
    for key in bad_keys() {
        let ask = ask(SALE, what).header("idempotency-key", key).json(good);
        cases.push(invalid(format!("{what}: idempotency key"), ask));
    }
    if needs_key {
        cases.push(invalid(format!("{what}: no key"), ask(SALE, what).json(good)));
    }
    cases
}

/// Bad requests to edit, copy, withdraw or delete the open sale.
fn life() -> Vec<Bad> {
    let edit = |body: &Value| ask(SALE, "edit").json(body);
    let delete = |sale: &str| Ask::delete(format!("/v1/admin/sales/{sale}")).by_operator();
    let of_round = json!({ "round": 1, "round_version": 1, "title": "A lamp" });
    let copy = json!({ "sale_id": "bad-copy" });
    let mut cases = with_bodies("edit", &ask(SALE, "edit"));
    cases.extend(with_bodies("duplicate", &ask(SALE, "duplicate")));
    cases.extend(about_sales("edit", |sale| ask(sale, "edit").json(&of_round)));
    cases.extend(about_sales("duplicate", |sale| ask(sale, "duplicate").json(&copy)));
    cases.extend(about_sales("delete", delete));
    cases.extend(about_sales("withdraw", |sale| ask(sale, "withdraw")));
    for value in wrong_types().into_iter().chain([json!("1"), json!(4_294_967_296u64)]) {
        cases.push(invalid(format!("edit: version {value}"), edit(&json!({ "version": value, "title": "A lamp" }))));
    }
    let members = "title opens_at closes_at total price_minor currency door gate allocation settlement rain";
    for member in members.split(' ') {
        // Some of these members accept an empty object.
        for value in wrong_types().into_iter().filter(|value| *value != json!({})) {
            let body = with(&of_round, member, Some(value));
            cases.push(invalid(format!("edit: {body}"), edit(&body)));
        }
    }
    for gate in [
        json!({ "challenge": "song" }),
        json!({ "work_bits": 25 }),
        json!({ "groups_see": ["a b"] }),
        json!({ "captcha": true }),
    ] {
        cases.push(invalid(format!("edit: gate {gate}"), edit(&with(&of_round, "gate", Some(gate)))));
    }
    cases.push(bad("withdraw: open", ask(SALE, "withdraw"), 409, "not_amendable"));
    cases.push(bad("delete: published", delete(SALE), 409, "not_amendable"));
    let promised = edit(&with(&of_round, "price_minor", Some(json!(1))));
    cases.push(bad("edit: promised", promised, 409, "not_amendable"));
    let elsewhere = json!(["https://elsewhere.example.com/kettle.webp"]);
    cases.push(invalid("edit: pictures", edit(&with(&of_round, "pictures", Some(elsewhere)))));
    cases
}

fn rain() -> Vec<Bad> {
    let good = json!({ "round": 1, "rain": {} });
    let mut cases = of_round("rain", &good, true);
    let drop = |after_s: u32| json!({ "after_s": after_s, "units": 1 });
    for rain in [
        json!({ "at_once": -1 }),
        json!({ "at_once": 10_000_001 }),
        json!({ "from_ms": 5 }),
        json!({ "steady": { "units": 0, "every_s": 1 } }),
        json!({ "steady": { "units": 1, "every_s": 86_401 } }),
        json!({ "steady": { "units": 1, "every_ms": 500 } }),
        json!({ "drops": [{ "after_s": 9, "units": 0 }] }),
        json!({ "drops": (1..=33).map(drop).collect::<Vec<_>>() }),
    ] {
        cases.push(invalid(format!("rain: {rain}"), keyed("rain", &good, "rain", Some(rain))));
    }
    cases
}
