//! Rounds whose units become available over time.

use crate::prelude::*;

/// Seconds from now to the next drop: longer than a test takes.
const LATER_S: u32 = 3000;

/// A sale that opened a minute ago: one of its three units was available then, and one drops in this many seconds.
fn raining(drop_in_s: u32) -> Terms {
    let drops = vec![RainDrop { after_s: 60 + drop_in_s, units: 1 }];
    Terms { rain: Some(Rain { at_once: 1, drops, ..Rain::default() }), ..terms(3, 1) }
}

fn change(rain: &Value, key: &str) -> Ask {
    let ask = Ask::post_sale("rain").header("idempotency-key", key);
    ask.json(&json!({ "round": 1, "rain": rain }))
}

fn moment(answer: &Answer) -> EpochMs {
    let at: jiff::Timestamp = answer.text("next_release_at").parse().expect("a moment");
    at.into()
}

#[tokio::test]
async fn who_comes_between_two_drops_hears_when_and_gets_a_unit_then() {
    let lab = Lab::selling(raining(LATER_S)).await;
    let drop_at = lab.round().await.terms.opens_at_ms.plus_s(60 + LATER_S);
    let alice = lab.buy("alice").await;
    let told = lab.answer(&Ask::reserve(SALE, "bob")).await.problem(409, "sold_out");
    assert_eq!(moment(&told), drop_at);
    let in_s: u32 = told.header("retry-after").parse().unwrap();
    assert!((1..=LATER_S).contains(&in_s), "{in_s} s");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!((card.text("availability"), moment(&card)), ("sold_out", drop_at));
    assert_eq!(card.body["rain"], json!({ "units": 3, "dropped": 1 }));
    let live = lab.read_sale("live").await;
    assert_eq!((&live["units"]["free"], &live["units"]["to_drop"]), (&json!(2), &json!(2)));

    // The drop is over if the round opened so much earlier. Redis's clock cannot be set, so it loads the round again.
    let earlier = |round: &mut Round| round.terms.opens_at_ms = round.terms.opens_at_ms.minus_s(LATER_S);
    rounds::change(&lab.ledger, &round(SALE, 1), earlier).await;
    lab.refresh_snapshots().await;
    lab.redis(&["FLUSHALL"]).await;
    lab.load(SALE).await;
    assert_eq!(lab.buy("bob").await.unit.0, alice.unit.0 + 1);
    let last = lab.answer(&Ask::reserve(SALE, "carol")).await.problem(409, "sold_out");
    assert_eq!(last.body.get("next_release_at"), None, "nothing more drops");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!((&card.body["rain"], card.body.get("next_release_at")), (&json!({ "units": 3, "dropped": 2 }), None));
    assert_eq!(lab.clean_audit().await, (1, 0, 2), "a unit that never drops is free");
}

#[tokio::test]
async fn a_plan_is_changed_once_for_each_key_and_redis_hears_of_it() {
    let lab = Lab::selling(raining(LATER_S)).await;
    lab.buy("alice").await;
    let more = json!({ "at_once": 1, "steady": { "units": 1, "every_s": 3600 } });
    let changed = lab.answer(&change(&more, "key-1")).await.expect(200).body;
    assert_eq!((&changed["rain"]["at_once"], &changed["round_version"]), (&json!(2), &json!(2)));
    let again = lab.answer(&change(&more, "key-1")).await.expect(200).body;
    assert_eq!(again, changed, "the one unit is added once");
    assert_eq!(lab.counters().await.plan, lab.round().await.terms.rain_plan());
    lab.answer(&change(&json!({ "at_once": 2 }), "key-1")).await.problem(409, "key_reused");
    let drop_is_over = json!({ "drops": [{ "after_s": 1, "units": 1 }] });
    lab.answer(&change(&drop_is_over, "key-2")).await.problem(409, "not_amendable");

    // No buyer wins before processes have forgotten that nothing was left.
    lab.sell_returned().await;
    let bob = lab.buy("bob").await;
    assert_eq!(bob.unit.0, 2);
    let log = lab.read(format!("/v1/admin/sales/{SALE}")).await;
    let last = log["log"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["action"], &last["parameters"]), (&json!("rain"), &json!("1 at once, 1 every 3600 s")));
}
