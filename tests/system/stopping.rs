//! Operators stop one sale, or everything, at once.

use serde_json::{Value, json};
use tests::terms;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::calls::redis_calls;
use crate::lab::{Lab, SALE};

async fn switch(lab: &Lab, what: &str, which: Value) -> Answer {
    lab.answer(&Ask::post(format!("/v1/admin/{what}")).by_operator().json(&which)).await
}

async fn lab() -> Lab {
    let lab = Lab::selling(terms(9, 1)).await;
    lab.publish("other", &terms(9, 1)).await;
    lab.load("other").await;
    lab
}

async fn stopped(lab: &Lab, sale: &str) {
    let ask = Ask::reserve(sale, "late");
    let (answer, calls) = redis_calls(&lab.valkey.url(), lab.answer(&ask)).await;
    assert_eq!(answer.problem(503, "paused").header("retry-after"), "10");
    assert_eq!(calls, [""; 0]);
}

#[tokio::test]
async fn one_sale_is_stopped_and_the_others_sell() {
    let lab = lab().await;
    let alice = lab.buy("alice").await;
    for _ in 0..2 {
        let state = switch(&lab, "stop", json!({ "sale_id": SALE })).await.expect(200);
        assert_eq!(state.body, json!({ "stopped": false, "stopped_sales": [SALE] }));
    }
    stopped(&lab, SALE).await;
    lab.answer(&Ask::reserve("other", "bob")).await.expect(202);
    let path = format!("/v1/reservations/{}", alice.id);
    lab.answer(&Ask::get(&path).by("alice")).await.expect(200);
    lab.answer(&Ask::get("/v1/orders").by("alice")).await.expect(200);
    lab.answer(&Ask::delete(&path).by("alice")).await.expect(200);
    // Starting everything is not about one sale.
    switch(&lab, "start", json!({})).await.expect(200);
    stopped(&lab, SALE).await;
    for _ in 0..2 {
        let state = switch(&lab, "start", json!({ "sale_id": SALE })).await.expect(200);
        assert_eq!(state.body, json!({ "stopped": false, "stopped_sales": [] }));
    }
    lab.reserve("carol").await;
}

#[tokio::test]
async fn everything_is_stopped_and_can_be_looked_at() {
    let lab = lab().await;
    let alice = lab.buy("alice").await;
    assert_eq!(switch(&lab, "stop", json!({})).await.expect(200).body["stopped"], true);
    stopped(&lab, SALE).await;
    stopped(&lab, "other").await;
    lab.answer(&Ask::get(format!("/v1/reservations/{}", alice.id)).by("alice")).await.expect(200);
    assert_eq!(switch(&lab, "start", json!({})).await.expect(200).body["stopped"], false);
    lab.reserve("bob").await;
}

#[tokio::test]
async fn whoever_starts_one_sale_hears_that_everything_is_still_stopped() {
    let lab = lab().await;
    for which in [json!({}), json!({ "sale_id": SALE })] {
        switch(&lab, "stop", which).await.expect(200);
    }
    let started = switch(&lab, "start", json!({ "sale_id": SALE })).await.expect(200);
    assert_eq!(started.body, json!({ "stopped": true, "stopped_sales": [] }));
    stopped(&lab, SALE).await;
}

#[tokio::test]
async fn two_operators_who_stop_different_things_undo_nothing() {
    let lab = lab().await;
    let both = [json!({ "sale_id": SALE }), json!({ "sale_id": "other" }), json!({})];
    futures::future::join_all(both.into_iter().map(|which| switch(&lab, "stop", which))).await;
    let switches = lab.answer(&Ask::get("/v1/admin/switches").by_operator()).await.expect(200);
    assert_eq!(switches.body, json!({ "stopped": true, "stopped_sales": [SALE, "other"] }));
}

#[tokio::test]
async fn what_does_not_say_what_to_stop_stops_nothing() {
    let lab = lab().await;
    for which in [json!({ "sale_id": null }), json!({ "sale": SALE }), json!({ "sale_id": "" }), json!([])] {
        switch(&lab, "stop", which.clone()).await.problem(400, "invalid_request");
        switch(&lab, "start", which).await.problem(400, "invalid_request");
    }
    lab.answer(&Ask::post("/v1/admin/stop").by_operator()).await.problem(415, "unsupported_media_type");
    switch(&lab, "stop", json!({ "sale_id": "nowhere" })).await.problem(404, "unknown_sale");
    assert_eq!(lab.ledger.switches().await.unwrap(), ledger::Switches::default());
}

#[tokio::test]
async fn a_sale_is_isolated_and_released() {
    let lab = lab().await;
    let isolate = |mut body: Value| {
        body["round"] = json!(1);
        Ask::post(format!("/v1/admin/sales/{SALE}/isolate")).by_operator().json(&body)
    };
    let set = isolate(json!({ "requests_per_s": 20 })).header("idempotency-key", "key-1");
    for _ in 0..2 {
        assert_eq!(lab.answer(&set).await.expect(200).body["isolated_requests_per_s"], 20);
    }
    let sale = lab.board.now().await.unwrap().sale(&SALE.parse().unwrap()).unwrap().sale.clone();
    assert_eq!(sale.isolated_requests_per_s, Some(20));
    let lifted = lab.answer(&isolate(json!({ "requests_per_s": null }))).await.expect(200);
    assert_eq!(lifted.body.get("isolated_requests_per_s"), None);
    for bad in [json!({}), json!({ "requests_per_s": 0 }), json!({ "requests_per_s": 100_001 })] {
        lab.answer(&isolate(bad)).await.problem(400, "invalid_request");
    }
}
