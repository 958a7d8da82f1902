//! Operators' bad requests while a sale runs.

use crate::bad_requests::{Bad, Target, bad, bad_keys, invalid, some_bad_sale_ids, with_bodies, wrong_types};
use crate::prelude::*;

fn ask(sale: &str, what: &str) -> Ask {
    Ask::post(format!("/v1/admin/sales/{sale}/{what}")).by_operator()
}

/// Every bad request to update a round, or to redrive.
pub(crate) fn all(target: &Target) -> Vec<Bad> {
    let mut cases = Vec::new();
    let first = json!({ "round": 1 });
    for what in ["pause", "resume", "close", "end_recurrence"] {
        let good = ask(&target.sale, what).json(&first);
        cases.extend(with_bodies(what, &ask(&target.sale, what)));
        cases.push(invalid(format!("{what}: no round"), ask(&target.sale, what).json(&json!({}))));
        for round in wrong_types().into_iter().chain([json!("1"), json!(-1), json!(4_294_967_296u64)]) {
            let body = json!({ "round": round });
            cases.push(invalid(format!("{what}: round {round}"), ask(&target.sale, what).json(&body)));
        }
        let other = ask(&target.sale, what).json(&json!({ "round": 2 }));
        cases.push(bad(format!("{what}: another round"), other, 409, "round_changed"));
        let ids = some_bad_sale_ids();
        cases.extend(ids.iter().map(|id| invalid(format!("{what}: sale id"), ask(id, what).json(&first))));
        cases.extend(
            bad_keys()
                .into_iter()
                .map(|key| invalid(format!("{what}: idempotency key"), good.clone().header("idempotency-key", key))),
        );
        cases.push(bad(format!("{what}: no such sale"), ask("bad-nowhere", what).json(&first), 404, "unknown_sale"));
        cases.push(bad(format!("{what}: no operator"), good.by("mallory"), 403, "forbidden"));
    }
    let throttled = ask(&target.sale, "throttle").json(&json!({ "requests_per_s": 5 }));
    cases.push(invalid("throttle: no round", throttled));
    cases.extend(restock(target));
    cases.extend(rain(target));
    cases.extend(life(target));

    let redrive = |queue: &str| Ask::post(format!("/v1/admin/redrive/{queue}")).by_operator();
    cases.extend(with_bodies("redrive", &redrive("orders")));
    for queue in ["nowhere", "Orders", "orders%00", "orders-dlq", "%FF"] {
        cases.push(bad("redrive: queue", redrive(queue), 404, "unknown_route"));
    }
    cases.push(bad("redrive: no operator", redrive("orders").by("mallory"), 403, "forbidden"));
    cases
}

/// Bad requests to edit, copy, withdraw or delete the open sale.
fn life(target: &Target) -> Vec<Bad> {
    let of_round = |sale: &str| ask(sale, "edit").json(&json!({ "round": 1, "round_version": 1, "title": "A lamp" }));
    let copy = |sale: &str| ask(sale, "duplicate").json(&json!({ "sale_id": "bad-copy" }));
    let delete = |sale: &str| Ask::delete(format!("/v1/admin/sales/{sale}")).by_operator();
    let mut cases = with_bodies("edit", &ask(&target.sale, "edit"));
    cases.extend(with_bodies("duplicate", &ask(&target.sale, "duplicate")));
    for value in wrong_types().into_iter().chain([json!("1"), json!(4_294_967_296u64)]) {
        cases.push(invalid(
            format!("edit: version {value}"),
            ask(&target.sale, "edit").json(&json!({ "version": value, "title": "A lamp" })),
        ));
    }
    let members = "title opens_at closes_at total price_minor currency door allocation settlement rain";
    for member in members.split(' ') {
        // Some of these members accept an empty object.
        for value in wrong_types().into_iter().filter(|value| *value != json!({})) {
            let mut body = json!({ "round": 1, "round_version": 1 });
            body[member] = value;
            cases.push(invalid(format!("edit: {body}"), ask(&target.sale, "edit").json(&body)));
        }
    }
    for (what, bodied) in [("edit", of_round as fn(&str) -> Ask), ("duplicate", copy), ("delete", delete)] {
        cases.extend(some_bad_sale_ids().iter().map(|id| invalid(format!("{what}: sale id"), bodied(id))));
        cases.push(bad(format!("{what}: no such sale"), bodied("bad-nowhere"), 404, "unknown_sale"));
        cases.push(bad(format!("{what}: no operator"), bodied(&target.sale).by("mallory"), 403, "forbidden"));
    }
    cases.extend(some_bad_sale_ids().iter().map(|id| invalid("withdraw: sale id", ask(id, "withdraw"))));
    cases.push(bad("withdraw: no such sale", ask("bad-nowhere", "withdraw"), 404, "unknown_sale"));
    cases.push(bad("withdraw: open", ask(&target.sale, "withdraw"), 409, "not_amendable"));
    cases.push(bad("delete: published", delete(&target.sale), 409, "not_amendable"));
    let price = json!({ "round": 1, "round_version": 1, "price_minor": 1 });
    let promised = ask(&target.sale, "edit").json(&price);
    cases.push(bad("edit: promised", promised, 409, "not_amendable"));
    let elsewhere = ["https://elsewhere.example.com/kettle.webp"];
    let pictured = json!({ "round": 1, "round_version": 1, "pictures": elsewhere });
    cases.push(invalid("edit: pictures", ask(&target.sale, "edit").json(&pictured)));
    cases
}

fn rain(target: &Target) -> Vec<Bad> {
    let plain = |sale: &str| ask(sale, "rain");
    let keyed = |sale: &str| plain(sale).header("idempotency-key", "key-1");
    let mut cases = with_bodies("rain", &keyed(&target.sale));
    let good = json!({ "round": 1, "rain": {} });
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
        let body = json!({ "round": 1, "rain": rain });
        cases.push(invalid(format!("rain: {rain}"), keyed(&target.sale).json(&body)));
    }
    let other = keyed(&target.sale).json(&json!({ "round": 2, "rain": {} }));
    cases.push(bad("rain: another round", other, 409, "round_changed"));
    cases.push(invalid("rain: no key", plain(&target.sale).json(&good)));
    cases.extend(some_bad_sale_ids().iter().map(|id| invalid("rain: sale id", keyed(id).json(&good))));
    cases.push(bad("rain: no such sale", keyed("bad-nowhere").json(&good), 404, "unknown_sale"));
    cases.push(bad("rain: no operator", keyed(&target.sale).json(&good).by("mallory"), 403, "forbidden"));
    cases
}

fn restock(target: &Target) -> Vec<Bad> {
    let plain = |sale: &str| ask(sale, "restock");
    let keyed = |sale: &str| plain(sale).header("idempotency-key", "key-1");
    let mut cases = with_bodies("restock", &keyed(&target.sale));
    let good = json!({ "round": 1, "units": 1 });
    for units in wrong_types().into_iter().chain([json!("1"), json!(0), json!(10_000_001), json!(4_294_967_296u64)]) {
        let body = json!({ "round": 1, "units": units });
        cases.push(invalid(format!("restock: {units} units"), keyed(&target.sale).json(&body)));
    }
    let no_round = keyed(&target.sale).json(&json!({ "units": 1 }));
    cases.push(invalid("restock: no round", no_round));
    let other = keyed(&target.sale).json(&json!({ "round": 2, "units": 1 }));
    cases.push(bad("restock: another round", other, 409, "round_changed"));
    cases.push(invalid("restock: nothing", keyed(&target.sale).json(&json!({}))));
    cases.push(invalid("restock: no key", plain(&target.sale).json(&good)));
    for key in bad_keys() {
        let ask = plain(&target.sale).header("idempotency-key", key).json(&good);
        cases.push(invalid("restock: idempotency key", ask));
    }
    cases.extend(some_bad_sale_ids().iter().map(|id| invalid("restock: sale id", keyed(id).json(&good))));
    cases.push(bad("restock: no such sale", keyed("bad-nowhere").json(&good), 404, "unknown_sale"));
    cases.push(bad("restock: no operator", keyed(&target.sale).json(&good).by("mallory"), 403, "forbidden"));
    cases
}
