//! What surrounds a sale with several lanes: the line, admission, the figures and the audits, also when a lane does not answer or
//! Redis has lost it.

use pass::line::LineState;
use sale::audit::Repair;
use stock::RoundStock;

use crate::busy_sales;
use crate::catalog::shown;
use crate::crashes::at_home_in;
use crate::draws::{end_ago, free, split};
use crate::lines::{LINE, look, with_line};
use crate::prelude::*;

const LANES: u16 = 4;
const KINDS: [&str; 7] = ["sale", "transfers", "buyers", "free", "outbox", "answers", "blocked"];

fn in_lanes(total: u32) -> Terms {
    Terms { lanes: LANES, ..terms(total, 1) }
}

impl Lab {
    fn round_stock<'a>(&'a self, id: &'a RoundId) -> RoundStock<'a> {
        self.stock.round_in(id, LANES)
    }

    fn lane_tag(&self, index: u16) -> String {
        self.round_stock(&round(SALE, 1)).tag(Lane::new(index, LANES))
    }

    /// Deletes the lane's keys from Redis.
    async fn lose_lane(&self, index: u16) {
        let tag = self.lane_tag(index);
        let keys = KINDS.map(|kind| format!("{kind}:{tag}"));
        let del: Vec<&str> = ["DEL"].into_iter().chain(keys.iter().map(String::as_str)).collect();
        self.redis(&del).await;
    }

    /// Makes every command on the lane's keys fail.
    async fn silence_lane(&self, index: u16) {
        let tag = self.lane_tag(index);
        for kind in KINDS {
            // None of the commands on these keys accepts a stream.
            let (key, kept) = (format!("{kind}:{tag}"), format!("kept:{kind}:{tag}"));
            let script = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end \
                          return redis.call('XADD', KEYS[1], '*', 'silent', '1')";
            self.redis(&["EVAL", script, "2", &key, &kept]).await;
        }
    }

    async fn buy_in(&self, index: u16, number: usize) -> sale::Reservation {
        self.buy(at_home_in(index, LANES, number).as_str()).await
    }
}

async fn standing(lab: &Lab, name: &str) -> Answer {
    lab.answer(&Ask::get(format!("/v1/sales/{SALE}/reservation")).by(name)).await
}

async fn live(lab: &Lab) -> Value {
    lab.answer(&Ask::get_sale("live")).await.expect(200).body
}

#[tokio::test]
async fn the_end_of_a_line_is_told() {
    let lab = Lab::selling(Terms { lanes: 2, ..with_line(2, LINE) }).await;
    lab.refresh_snapshots().await;
    for index in 0..2 {
        lab.buy(at_home_in(index, 2, 0).as_str()).await;
    }
    let document = look(&lab).await;
    assert_eq!((document.state, document.units.sold, document.units.may_return), (LineState::SoldOut, 2, 2));
    // Pretends that the last unit was won long ago.
    for index in 0..2 {
        let tag = lab.stock.round_in(&round(SALE, 1), 2).tag(Lane::new(index, 2));
        lab.redis(&["SETRANGE", &format!("sale:{tag}"), "16", "\0\0\0\0\0\u{1}"]).await;
    }
    let document = look(&lab).await;
    assert_eq!((document.state, document.units.may_return), (LineState::SoldOut, 0));
    assert_eq!(document.poll_after_ms, 60_000, "operators may add units until it ends");
}

#[tokio::test]
async fn a_line_is_not_sold_out_while_a_lane_is_lost() {
    let lab = Lab::selling(Terms { lanes: 2, ..with_line(2, LINE) }).await;
    lab.refresh_snapshots().await;
    let tag = lab.stock.round_in(&round(SALE, 1), 2).tag(Lane::new(0, 2));
    lab.redis(&["DEL", &format!("sale:{tag}")]).await;
    lab.buy(at_home_in(1, 2, 0).as_str()).await;
    assert_eq!(look(&lab).await.state, LineState::Paused, "the lost lane may have the other unit");
}

#[tokio::test]
async fn a_sale_is_not_busy_since_a_lane_was_lost() {
    let lab = Lab::selling(in_lanes(40)).await;
    let count = async |count: &str| {
        for index in 0..LANES {
            lab.redis(&["HINCRBY", &format!("answers:{}", lab.lane_tag(index)), "challenged", count]).await;
        }
    };
    count("2000000").await;
    assert_eq!(busy_sales::look(&lab, 0, None).await, 0);
    lab.redis(&["DEL", &format!("answers:{}", lab.lane_tag(2))]).await;
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
    lab.redis(&["HSET", &format!("answers:{}", lab.lane_tag(1)), "challenged", "5"]).await;
    assert_eq!(live(&lab).await.get("unknown_lanes"), None);
    lab.silence_lane(2).await;
    let seen = live(&lab).await;
    assert_eq!((&seen["units"]["total"], &seen["units"]["free"]), (&json!(40), &json!(29)), "{seen}");
    assert_eq!((&seen["unknown_lanes"], &seen["answers"]["challenged"]), (&json!([2]), &json!(5)), "{seen}");
    assert!(seen["queues"][0]["oldest_s"].is_u64(), "{seen}");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!(card.text("availability"), "available");
    let nobody = at_home_in(1, LANES, 7);
    assert_eq!(standing(&lab, nobody.as_str()).await.expect(200).body["reservations"], json!([]));
    standing(&lab, at_home_in(2, LANES, 7).as_str()).await.problem(503, "overloaded");
}

#[tokio::test]
async fn where_a_user_stands_is_asked_of_the_users_lane_alone() {
    let lab = Lab::selling(in_lanes(40)).await;
    let deps = lab.reservation();
    let ask = Ask::get(format!("/v1/sales/{SALE}/reservation")).by(at_home_in(1, LANES, 7).as_str());
    let asked = async || deps.answer(&ask).await.expect(200);
    asked().await;
    let (_, calls) = redis_calls(&lab.valkey.url(), asked()).await;
    assert_eq!(calls, ["HGET", "GET"]);
}

#[tokio::test]
async fn a_process_that_has_not_read_the_sale_looks_in_its_lanes() {
    let lab = Lab::selling(in_lanes(40)).await;
    for index in 0..LANES {
        let reservation = lab.reserve(at_home_in(index, LANES, 0).as_str()).await;
        // By its clock nobody has waited for two seconds, after which a look makes the order.
        let unread = lab.another_reservation(Clock::ahead_by_ms(-30_000));
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
        let answer = standing(&lab, at_home_in(index, LANES, 7).as_str()).await.expect(200);
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
    lab.buy_in(0, 0).await;
    lab.buy_in(3, 0).await;
    lab.lose_lane(3).await;
    let round = lab.round().await;
    let audited = lab.audited(&round).await;
    let audit = &audited.audit;
    assert_eq!((audited.in_redis, audit.lost, audit.free, audit.ordered), (true, 9, 29, 2), "{audit:?}");
    assert_eq!(audit.repairs, [Repair::Rebuild {}]);
    // A lane of a round that is over is not reloaded, but the orders of the other lanes are still checked.
    let listing =
        fulfilment::list(&lab.stock, &lab.ledger, &round.id, LANES).await.unwrap().expect("three lanes are there");
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
    let throttle = Ask::post_sale("throttle");
    lab.answer(&throttle.json(&json!({ "round": 1, "requests_per_s": 100 }))).await.expect(200);
    for tag in [lab.lane_tag(0), format!("{{{SALE}:1:0}}")] {
        lab.redis(&["LPUSH", &format!("lease:{tag}:reserve"), "silent"]).await;
    }
    lab.answer(&Ask::reserve(SALE, at_home_in(1, LANES, 0).as_str())).await.expect(202);
}
