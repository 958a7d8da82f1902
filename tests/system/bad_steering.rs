//! Operators' requests that are wrong while a sale runs.

use serde_json::json;

use crate::ask::Ask;
use crate::bad_requests::{Bad, Target, bad, bad_keys, bad_sale_ids, invalid, with_bodies, wrong_types};

fn ask(sale: &str, what: &str) -> Ask {
    Ask::post(format!("/v1/admin/sales/{sale}/{what}")).by_operator()
}

/// Every bad request to pause, resume, close, restock or redrive.
pub(crate) fn all(target: &Target) -> Vec<Bad> {
    let mut cases = Vec::new();
    for what in ["pause", "resume", "close"] {
        let good = ask(&target.sale, what);
        cases.extend(with_bodies(what, &good));
        cases.extend(bad_sale_ids().iter().map(|id| invalid(format!("{what}: sale id"), ask(id, what))));
        cases.extend(
            bad_keys()
                .into_iter()
                .map(|key| invalid(format!("{what}: idempotency key"), good.clone().header("idempotency-key", key))),
        );
        cases.push(bad(format!("{what}: no such sale"), ask("bad-nowhere", what), 404, "unknown_sale"));
        cases.push(bad(format!("{what}: no operator"), good.by("mallory"), 403, "denied"));
    }
    cases.extend(restock(target));

    let redrive = |queue: &str| Ask::post(format!("/v1/admin/redrive/{queue}")).by_operator();
    cases.extend(with_bodies("redrive", &redrive("orders")));
    for queue in ["nowhere", "Orders", "orders%00", "orders-dlq", "%FF"] {
        cases.push(bad("redrive: queue", redrive(queue), 404, "unknown_route"));
    }
    cases.push(bad("redrive: no operator", redrive("orders").by("mallory"), 403, "denied"));
    cases
}

fn restock(target: &Target) -> Vec<Bad> {
    let plain = |sale: &str| ask(sale, "restock");
    let keyed = |sale: &str| plain(sale).header("idempotency-key", "key-1");
    let mut cases = with_bodies("restock", &keyed(&target.sale));
    let good = json!({ "units": 1 });
    for units in wrong_types().into_iter().chain([json!("1"), json!(0), json!(10_000_001), json!(4_294_967_296u64)]) {
        let body = json!({ "units": units });
        cases.push(invalid(format!("restock: {units} units"), keyed(&target.sale).json(&body)));
    }
    cases.push(invalid("restock: nothing", keyed(&target.sale).json(&json!({}))));
    cases.push(invalid("restock: no key", plain(&target.sale).json(&good)));
    for key in bad_keys() {
        let ask = plain(&target.sale).header("idempotency-key", key).json(&good);
        cases.push(invalid("restock: idempotency key", ask));
    }
    cases.extend(bad_sale_ids().iter().map(|id| invalid("restock: sale id", keyed(id).json(&good))));
    cases.push(bad("restock: no such sale", keyed("bad-nowhere").json(&good), 404, "unknown_sale"));
    cases.push(bad("restock: no operator", keyed(&target.sale).json(&good).by("mallory"), 403, "denied"));
    cases
}
