//! A sale with several lanes, from an operator's draft to the last unit, and what surrounds it: the line, admission, the
//! figures and the audits, also when a lane does not answer or Redis has lost it. `tests/scripts/lanes` tests how lanes
//! affect each other, one Redis call at a time.

use ledger::{BlockReason, BlockedBy, UserBlock};
use pass::line::{LineDocument, LineState};
use sale::audit::Repair;

use crate::busy_sales;
use crate::draws::{end_ago, free, split};
use crate::lab::JUST_RESERVED;
use crate::lines::{self, LINE, look, with_line};
use crate::prelude::*;

const LANES: u16 = 4;
const KINDS: [&str; 7] = ["sale", "transfers", "buyers", "free", "outbox", "answers", "blocked"];

fn in_lanes(total: u32) -> Terms {
    Terms { lanes: LANES, ..terms(total, 1) }
}

pub(crate) fn at_home_in(index: u16, lanes: u16, number: usize) -> UserId {
    let users = (0..).map(|at| user(format!("user-{at}")));
    users.filter(|user| Lane::home_of(user, lanes).index() == index).nth(number).unwrap()
}

impl Lab {
    /// A key of a lane of the first round.
    pub(crate) fn lane_key(&self, kind: &str, index: u16) -> String {
        let id = round(SALE, 1);
        let lanes = self.lanes_of(&id);
        format!("{kind}:{}", self.stock.round_in(&id, lanes).tag(Lane::new(index, lanes)))
    }

    pub(crate) async fn lose_lane(&self, index: u16) {
        let keys = KINDS.map(|kind| self.lane_key(kind, index));
        let del: Vec<&str> = ["DEL"].into_iter().chain(keys.iter().map(String::as_str)).collect();
        self.redis(&del).await;
    }

    /// Makes every command on the lane's keys fail, like a shard that is away.
    async fn silence_lane(&self, index: u16) {
        for key in KINDS.map(|kind| self.lane_key(kind, index)) {
            // None of the commands on these keys accepts a stream.
            let script = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end \
                          return redis.call('XADD', KEYS[1], '*', 'silent', '1')";
            self.redis(&["EVAL", script, "2", &key, &format!("kept:{key}")]).await;
        }
    }
}

async fn standing(lab: &Lab, user: &UserId) -> Answer {
    lab.answer(&Ask::get(format!("/v1/sales/{SALE}/reservation")).by(user.as_str())).await
}

async fn live_units(lab: &Lab) -> (u64, u64) {
    let live = lab.read_sale("live").await;
    (live["units"]["total"].as_u64().unwrap(), live["units"]["free"].as_u64().unwrap())
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
    assert_eq!(standing(&lab, &late).await.expect(200).body["reservations"].as_array().map(Vec::len), Some(1));

    // New units go to the first lane.
    lab.update("restock", json!({ "units": 5 })).await;
    assert_eq!(live_units(&lab).await, (14, 5));
    for (number, index) in [0, 1, 2, 3, 2].into_iter().enumerate() {
        lab.buy(at_home_in(index, LANES, 20 + number).as_str()).await;
    }
    assert_eq!(lab.clean_audit().await, (0, 0, 14));
    lab.update("pause", json!({})).await;
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
    // What they may be is tested in `sale`.
    let refused = lab.operate("sales", &sale(json!({ "lanes": 17 }))).await.problem(400, "invalid_request");
    assert!(refused.text("detail").contains("lanes"), "{refused:?}");
    let drafted = lab.operate("sales", &sale(json!({ "lanes": 2 }))).await.expect(201);
    assert_eq!(drafted.body["lanes"], 2);
    let edited = lab.operate(&format!("sales/{SALE}/edit"), &json!({ "version": 1, "lanes": 8 })).await.expect(200);
    assert_eq!(edited.body["lanes"], 8);
    lab.operate(&format!("sales/{SALE}/publish"), &json!({})).await.expect(200);
    let edit = json!({ "round": 1, "round_version": 1, "lanes": 4 });
    lab.operate(&format!("sales/{SALE}/edit"), &edit).await.problem(409, "not_amendable");
    let copy = lab.operate(&format!("sales/{SALE}/duplicate"), &json!({ "sale_id": "copy" })).await.expect(201);
    assert_eq!(copy.body["lanes"], 8);
    let one = lab.operate("sales", &sale(json!({ "sale_id": "one" }))).await.expect(201);
    assert_eq!(one.body.get("lanes"), None, "as before");
}

/// A lane that is away goes unnoticed by users of other lanes: they see their reservations, and blocked users stay
/// blocked.
#[tokio::test]
async fn a_lane_that_is_away_is_not_asked_for_the_users_of_others() {
    let lab = lines::selling(in_lanes(20)).await;
    let (alice, eve) = (at_home_in(0, LANES, 0), at_home_in(2, LANES, 0));
    let bought = lab.buy(alice.as_str()).await;
    lab.silence_lane(1).await;
    let unknown = Ask::get(format!("/v1/reservations/{}", fresh_id(&round(SALE, 1)))).by(alice.as_str());
    lab.answer(&unknown).await.problem(404, "unknown_reservation");
    let mine =
        async |user: &UserId| standing(&lab, user).await.expect(200).body["reservations"].as_array().unwrap().len();
    assert_eq!((mine(&alice).await, mine(&eve).await), (1, 0));
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
    let lab = lines::selling(Terms { lanes: LANES, ..with_line(4, LINE) }).await;
    for index in 1..LANES {
        lab.buy(at_home_in(index, LANES, 0).as_str()).await;
    }
    let damaged_at = lab.recorder.now_ns();
    // As when a lane is loaded while another one does not answer.
    lab.redis(&["SETRANGE", &lab.lane_key("sale", 0), "4", "\0\0\0\0"]).await;
    lab.redis(&["HSET", &lab.lane_key("transfers", 0), "short", "1"]).await;
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

#[tokio::test]
async fn the_end_of_a_line_is_told() {
    let lab = lines::selling(Terms { lanes: 2, ..with_line(2, LINE) }).await;
    for index in 0..2 {
        lab.buy(at_home_in(index, 2, 0).as_str()).await;
    }
    let document = look(&lab).await;
    assert_eq!((document.state, document.units.sold, document.units.may_return), (LineState::SoldOut, 2, 2));
    // Pretends that the last unit was won long ago.
    for index in 0..2 {
        lab.redis(&["SETRANGE", &lab.lane_key("sale", index), "16", "\0\0\0\0\0\u{1}"]).await;
    }
    let document = look(&lab).await;
    assert_eq!((document.state, document.units.may_return), (LineState::SoldOut, 0));
    assert_eq!(document.poll_after_ms, 60_000, "operators may add units until it ends");
}

#[tokio::test]
async fn a_line_neither_stops_nor_is_sold_out_because_a_lane_is_lost() {
    let lab = lines::selling(Terms { lanes: 2, ..with_line(2, LINE) }).await;
    lab.redis(&["DEL", &lab.lane_key("sale", 0)]).await;
    let LineDocument { state, units, .. } = look(&lab).await;
    assert_eq!((state, units.total, units.sold), (LineState::Moving, 2, 0), "the lost unit is unknown, not sold");
    lab.buy(at_home_in(1, 2, 0).as_str()).await;
    assert_eq!(look(&lab).await.state, LineState::Paused, "the lost lane may have the other unit");
}

#[tokio::test]
async fn a_sale_is_not_busy_since_a_lane_was_lost() {
    let lab = Lab::selling(in_lanes(40)).await;
    let count = async |count: &str| {
        for index in 0..LANES {
            lab.redis(&["HINCRBY", &lab.lane_key("answers", index), "challenged", count]).await;
        }
    };
    count("2000000").await;
    assert_eq!(busy_sales::look(&lab, 0, None).await, 0);
    lab.redis(&["DEL", &lab.lane_key("answers", 2)]).await;
    assert_eq!(busy_sales::look(&lab, 1, None).await, 0, "there were no new requests");
    count("250000").await;
    assert_eq!(busy_sales::look(&lab, 2, None).await, 0, "four lanes are expected to take four times as much");
    count("600000").await;
    assert_eq!(busy_sales::look(&lab, 3, None).await, 1);
}

#[tokio::test]
async fn what_surrounds_a_sale_goes_on_without_one_of_its_lanes() {
    let lab = Lab::selling(in_lanes(40)).await;
    let here = at_home_in(0, LANES, 0);
    lab.reserve(here.as_str()).await;
    lab.redis(&["HSET", &lab.lane_key("answers", 1), "challenged", "5"]).await;
    assert_eq!(lab.read_sale("live").await.get("unknown_lanes"), None);
    let deps = lab.reservation();
    let ask = Ask::get(format!("/v1/sales/{SALE}/reservation")).by(at_home_in(1, LANES, 7).as_str());
    let asked = async || deps.answer(&ask).await.expect(200);
    asked().await;
    assert_eq!(redis_calls(&lab.valkey.url(), asked()).await.1, ["HGET", "GET"], "only the user's lane is asked");
    lab.silence_lane(2).await;
    let seen = lab.read_sale("live").await;
    assert_eq!((&seen["units"]["total"], &seen["units"]["free"]), (&json!(40), &json!(29)), "{seen}");
    assert_eq!((&seen["unknown_lanes"], &seen["answers"]["challenged"]), (&json!([2]), &json!(5)), "{seen}");
    assert!(seen["queues"][0]["oldest_s"].is_u64(), "{seen}");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!(card.text("availability"), "available");
    let of_nobody = standing(&lab, &at_home_in(1, LANES, 7)).await.expect(200);
    assert_eq!(of_nobody.body["reservations"], json!([]));
    standing(&lab, &at_home_in(2, LANES, 7)).await.problem(503, "overloaded");
}

#[tokio::test]
async fn a_process_that_has_not_read_the_sale_looks_in_its_lanes() {
    let lab = Lab::selling(in_lanes(40)).await;
    for index in 0..LANES {
        let reservation = lab.reserve(at_home_in(index, LANES, 0).as_str()).await;
        let unread = lab.another_reservation(JUST_RESERVED);
        let answer = unread.answer(&Ask::status(&reservation)).await.expect(200);
        assert_eq!(answer.text("status"), "queued", "lane {index}");
    }
}

#[tokio::test]
async fn only_the_users_of_a_lane_that_was_loaded_anew_may_have_to_wait() {
    let lab = Lab::selling(in_lanes(40)).await;
    lab.lose_lane(3).await;
    lab.answer(&Ask::reserve(SALE, at_home_in(3, LANES, 0).as_str())).await.problem(503, "overloaded");
    lab.answer(&Ask::reserve(SALE, at_home_in(0, LANES, 0).as_str())).await.expect(202);
    heal(&lab).await;
    lab.refresh_snapshots().await;
    let restoring = async |index| {
        let answer = standing(&lab, &at_home_in(index, LANES, 7)).await.expect(200);
        answer.body.get("restoring").cloned().unwrap_or_default()
    };
    assert_eq!([restoring(0).await, restoring(3).await], [Value::Null, json!(true)]);
}

#[tokio::test]
async fn a_lane_that_is_away_hides_no_message_of_the_others_and_no_unit_is_called_lost() {
    let lab = Lab::selling(in_lanes(40)).await;
    for index in [0, 3] {
        lab.reserve(at_home_in(index, LANES, 0).as_str()).await;
    }
    lab.silence_lane(1).await;
    let summary = lab.reconcile_in(120_000).await;
    assert_eq!(summary.sent, 2, "{summary:?}");
    assert!(summary.outbox_age_s >= 120 && summary.failed > 0, "{summary:?}");
    assert_eq!(summary.rounds, BTreeMap::new(), "a round with an unknown lane is not counted");
}

#[tokio::test]
async fn what_a_lost_lane_had_is_all_that_is_to_be_rebuilt() {
    let lab = Lab::selling(in_lanes(40)).await;
    for index in [0, 3] {
        lab.buy(at_home_in(index, LANES, 0).as_str()).await;
    }
    lab.lose_lane(3).await;
    let round = lab.round().await;
    let audited = lab.audited(&round).await;
    let audit = &audited.audit;
    assert_eq!((audited.in_redis, audit.lost, audit.free, audit.ordered), (true, 9, 29, 2), "{audit:?}");
    assert_eq!(audit.repairs, [Repair::Rebuild {}]);
    // A lane of a round that is over is not reloaded, but the orders of the other lanes are still checked.
    let listing = fulfilment::list(&lab.stock, &lab.ledger, &round.id, LANES).await.unwrap().expect("three lanes");
    assert_eq!(listing.repairs, [], "no unit of the lost lane is given away, and its order waits for it");
    let audited = fulfilment::audit(&lab.stock, &lab.ledger, &round, round.terms.closes_at_ms.plus_s(1)).await.unwrap();
    let audit = &audited.audit;
    assert_eq!((audit.lost, audit.free, audit.ordered), (0, 38, 2), "once it is over they are unsold: {audit:?}");
    assert_eq!(audit.repairs, []);
    heal(&lab).await;
    assert_eq!(lab.clean_audit().await, (38, 0, 2));
}

/// A process learns of the end from the ledger; while one lane is lost, another may not know of it yet.
#[tokio::test]
async fn the_seed_is_kept_back_as_long_as_one_lane_sells() {
    let lab = Lab::selling(Terms { lanes: LANES, ..free(8, split()) }).await;
    end_ago(&lab, catalog::DRAW_REVEAL_AFTER_S + 5).await;
    lab.lose_lane(2).await;
    let draw = format!("/v1/sales/{SALE}/rounds/1/draw");
    assert_eq!(shown(&lab.catalog(), &draw).await.body.get("seed"), None, "three lanes still sell");
    for index in [0, 1, 3] {
        lab.lose_lane(index).await;
    }
    assert!(shown(&lab.catalog(), &draw).await.body.get("seed").is_some());
}

/// Its turns are counted on one shard, which may not answer.
#[tokio::test]
async fn a_throttled_sale_goes_on_without_the_shard_that_counts_its_turns() {
    let lab = Lab::selling(in_lanes(40)).await;
    lab.throttle(Some(100)).await;
    for lease in [lab.lane_key("lease", 0), format!("lease:{{{SALE}:1:0}}")] {
        lab.redis(&["LPUSH", &format!("{lease}:reserve"), "silent"]).await;
    }
    lab.answer(&Ask::reserve(SALE, at_home_in(1, LANES, 0).as_str())).await.expect(202);
}
