//! A sale with several lanes, from an operator's draft to the last unit. `tests/scripts/lanes` tests how lanes affect
//! each other, one Redis call at a time.

use ledger::{BlockReason, BlockedBy, UserBlock};
use pass::line::LineState;

use crate::crashes::at_home_in;
use crate::lines::{LINE, look, with_line};
use crate::prelude::*;
use crate::shop::in_s;

const LANES: u16 = 4;

fn in_lanes(total: u32) -> Terms {
    Terms { lanes: LANES, ..terms(total, 1) }
}

fn post(what: &str, body: &Value) -> Ask {
    Ask::post(format!("/v1/admin/sales{what}")).by_operator().json(body)
}

async fn update(lab: &Lab, what: &str, body: Value) -> Value {
    let ask = post(&format!("/{SALE}/{what}"), &body).header("idempotency-key", format!("key-{what}"));
    lab.answer(&ask).await.expect(200).body
}

async fn live_units(lab: &Lab) -> (u64, u64) {
    let live = lab.answer(&Ask::get_sale("live")).await.expect(200).body;
    (live["units"]["total"].as_u64().unwrap(), live["units"]["free"].as_u64().unwrap())
}

fn key(lab: &Lab, kind: &str, index: u16) -> String {
    let id = round(SALE, 1);
    format!("{kind}:{}", lab.stock.round_in(&id, LANES).tag(Lane::new(index, LANES)))
}

/// Makes the lane's keys answer only errors, like a shard that is away.
async fn silence(lab: &Lab, index: u16) {
    for kind in ["sale", "buyers", "transfers", "blocked"] {
        let key = key(lab, kind, index);
        lab.redis_text(&["DEL", &key]).await;
        // No command that reads these keys accepts a list.
        lab.redis(&["LPUSH", &key, "silent"]).await;
    }
}

/// All buyers have the same home lane.
#[tokio::test]
async fn a_sale_with_lanes_is_sold_to_the_last_unit() {
    let lab = Lab::selling(in_lanes(9)).await;
    assert_eq!(lab.clean_audit().await, (9, 0, 0));
    let mut reservations = Vec::new();
    for number in 0..9 {
        reservations.push(lab.buy(at_home_in(1, LANES, number).as_str()).await);
    }
    assert_eq!(lab.clean_audit().await, (0, 0, 9));
    let late = at_home_in(3, LANES, 0);
    lab.answer(&Ask::reserve(SALE, late.as_str())).await.problem(409, "sold_out");
    assert_eq!(live_units(&lab).await, (9, 0));

    // A returned unit can go to a buyer from any lane.
    let given_back = &reservations[4];
    lab.answer(&Ask::cancel(given_back)).await.expect(200);
    let bought = lab.buy(late.as_str()).await;
    assert_eq!((bought.unit, bought.lane), (given_back.unit, Lane::home_of(&late, LANES)));
    assert_eq!(lab.answer(&Ask::status(&bought)).await.expect(200).text("status"), "pending_payment");
    let mine = Ask::get(format!("/v1/sales/{SALE}/reservation")).by(late.as_str());
    assert_eq!(lab.answer(&mine).await.expect(200).body["reservations"].as_array().map(Vec::len), Some(1));

    // New units go to the first lane.
    update(&lab, "restock", json!({ "round": 1, "units": 5 })).await;
    assert_eq!(live_units(&lab).await, (14, 5));
    for index in [0, 1, 2, 3, 2] {
        lab.buy(at_home_in(index, LANES, 20 + usize::from(index) + reservations.len()).as_str()).await;
        reservations.pop();
    }
    assert_eq!(lab.clean_audit().await, (0, 0, 14));
    update(&lab, "pause", json!({ "round": 1 })).await;
    let answer = lab.answer(&Ask::reserve(SALE, at_home_in(2, LANES, 60).as_str())).await;
    assert!([409, 503].contains(&answer.status), "{}", answer.body);
    heal(&lab).await;
    assert_eq!(lab.clean_audit().await, (0, 0, 14));
    lab.check_history("lanes_sold", &[SALE], Redis::Keeps).await;
}

#[tokio::test]
async fn lanes_are_terms_of_a_draft() {
    let lab = Lab::new().await;
    let sale = |more: Value| {
        let mut sale = new_sale(SALE, &json!({ "opens_at": in_s(3600), "closes_at": in_s(7200) }));
        sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        sale
    };
    let refused = [
        json!({ "lanes": 0 }),
        json!({ "lanes": 17 }),
        json!({ "lanes": 2, "rain": { "at_once": 100 } }),
        json!({ "lanes": 2, "early_access": [{ "group": "members", "lead_s": 60, "quota": { "units": 1, "for_s": 60 } }] }),
    ];
    for bad in refused {
        let answer = lab.answer(&post("", &sale(bad.clone()))).await.problem(400, "invalid_request");
        assert!(answer.text("detail").contains("lanes"), "{bad}: {}", answer.body);
    }
    let drafted = lab.answer(&post("", &sale(json!({ "lanes": 2 })))).await.expect(201);
    assert_eq!(drafted.body["lanes"], 2);
    let edited = lab.answer(&post(&format!("/{SALE}/edit"), &json!({ "version": 1, "lanes": 8 }))).await.expect(200);
    assert_eq!(edited.body["lanes"], 8);
    lab.answer(&post(&format!("/{SALE}/publish"), &json!({}))).await.expect(200);
    let edit = json!({ "round": 1, "round_version": 1, "lanes": 4 });
    lab.answer(&post(&format!("/{SALE}/edit"), &edit)).await.problem(409, "not_amendable");
    let copy = lab.answer(&post(&format!("/{SALE}/duplicate"), &json!({ "sale_id": "copy" }))).await.expect(201);
    assert_eq!(copy.body["lanes"], 8);
    let one = lab.answer(&post("", &sale(json!({ "sale_id": "one" })))).await.expect(201);
    assert_eq!(one.body.get("lanes"), None, "as before");
}

/// A lane that is away goes unnoticed by users of other lanes: they see their reservations, and blocked users stay
/// blocked.
#[tokio::test]
async fn a_lane_that_is_away_is_not_asked_for_the_users_of_others() {
    let lab = Lab::selling(in_lanes(20)).await;
    lab.refresh_snapshots().await;
    let (alice, eve) = (at_home_in(0, LANES, 0), at_home_in(2, LANES, 0));
    let bought = lab.buy(alice.as_str()).await;
    silence(&lab, 1).await;
    let unknown = Ask::get(format!("/v1/reservations/{}", fresh_id(&round(SALE, 1)))).by(alice.as_str());
    lab.answer(&unknown).await.problem(404, "unknown_reservation");
    let mine = async |name: &str| {
        let answer = lab.answer(&Ask::get(format!("/v1/sales/{SALE}/reservation")).by(name)).await;
        answer.expect(200).body["reservations"].as_array().unwrap().len()
    };
    assert_eq!((mine(alice.as_str()).await, mine(eve.as_str()).await), (1, 0));
    assert_eq!(lab.order_of(&bought).await.reservation, bought);

    let until_ms = now().plus_s(3600);
    let block = UserBlock { user: eve.clone(), until_ms, reason: BlockReason::Asked, by: BlockedBy::Operators };
    lab.ledger.block(&block).await.unwrap();
    assert!(lab.reconcile().await.failed > 0);
    lab.answer(&Ask::reserve(SALE, eve.as_str())).await.problem(403, "blocked");
}

/// Units that a lane lacks are neither sold nor free. Until they are found, no buyer is told that the sale is sold out.
#[tokio::test]
async fn a_sale_whose_lane_lacks_units_is_not_sold_out() {
    let lab = Lab::selling(Terms { lanes: LANES, ..with_line(4, LINE) }).await;
    lab.refresh_snapshots().await;
    for index in 1..LANES {
        lab.buy(at_home_in(index, LANES, 0).as_str()).await;
    }
    let damaged_at = lab.recorder.now_ns();
    // As when a lane is loaded while another one does not answer.
    lab.redis(&["SETRANGE", &key(&lab, "sale", 0), "4", "\0\0\0\0"]).await;
    lab.redis(&["HSET", &key(&lab, "transfers", 0), "short", "1"]).await;
    let late = at_home_in(3, LANES, 1);
    lab.answer(&Ask::reserve(SALE, late.as_str())).await.problem(503, "overloaded");
    let card = lab.answer(&Ask::get(format!("/v1/sales/{SALE}"))).await;
    assert_eq!((card.status, card.text("availability")), (200, "unknown"));
    let state = async |state| {
        let is_so = async || Some(look(&lab).await).filter(|document| document.state == state);
        until("the line's new state", is_so).await
    };
    state(LineState::Paused).await;

    heal(&lab).await;
    assert_eq!(lab.clean_audit().await, (1, 0, 3));
    state(LineState::Moving).await;
    lab.buy(late.as_str()).await;
    state(LineState::SoldOut).await;
    assert_eq!(lab.clean_audit().await, (0, 0, 4));
    lab.check_history("lanes_short", &[SALE], Redis::MayForgetFrom(damaged_at)).await;
}
