//! An update names its round, and a key names one request.

use crate::prelude::*;

/// Half the length of the rounds, and more than tests put clocks forward or back.
const HALF_S: i64 = 3 * 60 * 60;

fn ask(what: &str, body: &Value) -> Ask {
    Ask::post_sale(what).json(body)
}

fn keyed(what: &str, key: &str, body: &Value) -> Ask {
    ask(what, body).header("idempotency-key", key)
}

async fn daily() -> Lab {
    let lab = Lab::new().await;
    rounds::publish_daily(&lab.ledger, SALE, &rounds::from_to(-HALF_S, HALF_S, terms(5, 1))).await;
    lab.load(SALE).await;
    lab
}

async fn begin_round_2(lab: &Lab) {
    rounds::pass_a_day(&lab.ledger, SALE).await;
    assert_eq!(daily_reset::handle(&lab.daily_reset()).await.unwrap().begun, 1);
}

/// The process that began the second round had a fast clock.
#[tokio::test]
async fn of_two_rounds_that_are_not_over_yet_the_second_is_listed() {
    let lab = daily().await;
    begin_round_2(&lab).await;
    let soon = AttributeValue::N((now().0 + 60_000).to_string());
    lab.set_attribute("ROUND#lamp#1", "closes_at_ms", soon).await;
    let list = lab.read("/v1/admin/sales").await;
    let rounds: Vec<_> = list["sales"].as_array().unwrap().iter().map(|sale| &sale["round"]).collect();
    assert_eq!(rounds, [2]);
}

/// An operator who resends a key for the current round, when the old one is over, does not know what became of it.
#[tokio::test]
async fn a_key_that_named_another_request_is_refused() {
    for days in 0..2 {
        let lab = daily().await;
        let updatable = async || (lab.offer().await, lab.round().await);
        let restock = |key: &str, units: u32| keyed("restock", key, &json!({ "round": 1 + days, "units": units }));
        let first = keyed("restock", "key-1", &json!({ "round": 1, "units": 2 }));
        assert_eq!(lab.answer(&first).await.expect(200).body["total"], 7);
        if days > 0 {
            begin_round_2(&lab).await;
        }
        let before = updatable().await;
        assert_eq!(lab.answer(&first).await.expect(200).body["round"], 1 + days, "the same request again");
        for other in [
            restock("key-1", 20),
            keyed("restock", "key-1", &json!({ "round": 2 - days, "units": 3 })),
            keyed("restock", "key-1", &json!({ "round": 2, "units": 2 })),
            keyed("pause", "key-1", &json!({ "round": 1 + days })),
            keyed("throttle", "key-1", &json!({ "round": 1 + days, "requests_per_s": 2 })),
            keyed("end_recurrence", "key-1", &json!({ "round": 1 + days })),
        ] {
            lab.answer(&other).await.problem(409, "key_reused");
        }
        assert_eq!(updatable().await, before);
        lab.answer(&restock("key", 1)).await.expect(200);
        assert_ne!(updatable().await, before, "a part of a used key is a different key");
    }
}

#[tokio::test]
async fn the_log_says_who_did_what_and_when() {
    let lab = Lab::new().await;
    let began = now();
    let daily = json!({ "total": 5, "recurrence": { "every": "day", "time_zone": "Etc/UTC" } });
    lab.operate("sales", &new_sale(SALE, &daily)).await.expect(201);
    lab.answer(&Ask::post_sale("publish")).await.expect(200);
    lab.answer(&ask("pause", &json!({ "round": 1 }))).await.expect(200);
    for _ in 0..2 {
        lab.answer(&keyed("restock", "more", &json!({ "round": 1, "units": 20 }))).await.expect(200);
    }
    lab.answer(&ask("end_recurrence", &json!({ "round": 1 }))).await.expect(200);
    let seen = lab.read(format!("/v1/admin/sales/{SALE}")).await;
    assert_eq!((&seen["version"], &seen["round_version"]), (&json!(3), &json!(3)));
    let log = seen["log"].as_array().unwrap();
    let told: Vec<_> = log.iter().map(|entry| json!([entry["action"], entry["parameters"]])).collect();
    let expected =
        json!([["create", null], ["publish", null], ["pause", null], ["restock", "20"], ["end_recurrence", "1"]]);
    assert_eq!(json!(told), expected);
    let moments: Vec<EpochMs> =
        log.iter().map(|entry| entry["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().into()).collect();
    assert!(moments.is_sorted() && moments[0] >= began && moments[4] <= now(), "{moments:?}");
    assert!(log.iter().all(|entry| entry["by"] == "olga"), "{log:?}");
}
