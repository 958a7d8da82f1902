//! An update names its round, and a key names one request.

use crate::prelude::*;

/// Half the length of the rounds, and more than tests put clocks forward or back.
const HALF_MS: i64 = 3 * 60 * 60 * 1000;

fn ask(what: &str, body: &Value) -> Ask {
    Ask::post(format!("/v1/admin/sales/{SALE}/{what}")).by_operator().json(body)
}

fn keyed(what: &str, key: &str, body: &Value) -> Ask {
    ask(what, body).header("idempotency-key", key)
}

fn all_of(round: u32) -> Vec<Ask> {
    let only = json!({ "round": round });
    vec![
        ask("pause", &only),
        ask("resume", &only),
        ask("close", &only),
        keyed("restock", &format!("more-{round}"), &json!({ "round": round, "units": 5 })),
        ask("throttle", &json!({ "round": round, "requests_per_s": 20 })),
        ask("end_recurrence", &only),
    ]
}

/// A sale that recurs daily, in round 1, open.
async fn daily() -> Lab {
    let lab = Lab::new().await;
    let now = Clock::system().now().0;
    let (opens_at_ms, closes_at_ms) = (EpochMs(now - HALF_MS), EpochMs(now + HALF_MS));
    let terms = Terms { opens_at_ms, closes_at_ms, ..terms(5, 1) };
    rounds::draft(&lab.ledger, SALE, &terms, Some(&Recurrence::daily("Europe/Berlin").unwrap())).await;
    rounds::publish(&lab.ledger, SALE).await;
    lab.load(SALE).await;
    lab
}

async fn begin_round_2(ledger: &Ledger) {
    rounds::pass_a_day(ledger, SALE).await;
    let run_timeout = daily_reset::RUN_TIMEOUT;
    let deps = daily_reset::DailyResetDeps { ledger: ledger.clone(), clock: Clock::system(), run_timeout };
    assert_eq!(daily_reset::handle(&deps).await.unwrap().begun, 1);
}

/// What an update may change.
async fn updatable(lab: &Lab) -> impl PartialEq + std::fmt::Debug + use<> {
    (lab.offer().await, lab.round().await)
}

#[tokio::test]
async fn what_was_meant_for_yesterdays_round_changes_nothing_today() {
    let lab = daily().await;
    begin_round_2(&lab.ledger).await;
    let before = updatable(&lab).await;
    assert_eq!(lab.offer().await.latest_round, RoundNumber(2));
    for wrong in [1, 3] {
        for ask in all_of(wrong) {
            let refused = lab.answer(&ask).await.problem(409, "round_changed");
            assert_eq!(refused.body["round"], 2, "it names the current round");
        }
    }
    assert_eq!(updatable(&lab).await, before);
    lab.answer(&keyed("restock", "more-2", &json!({ "round": 2, "units": 5 }))).await.expect(200);
}

/// The answer was lost, and the next round has begun since.
#[tokio::test]
async fn what_was_done_yesterday_is_known_again_today() {
    let lab = daily().await;
    let more = keyed("restock", "more", &json!({ "round": 1, "units": 5 }));
    lab.answer(&more).await.expect(200);
    begin_round_2(&lab.ledger).await;
    let before = updatable(&lab).await;
    assert_eq!(lab.answer(&more).await.expect(200).body["round"], 2);
    let other = keyed("restock", "more", &json!({ "round": 1, "units": 6 }));
    lab.answer(&other).await.problem(409, "key_reused");
    assert_eq!(updatable(&lab).await, before);
}

/// The process that began the second round had a fast clock.
#[tokio::test]
async fn of_two_rounds_that_are_not_over_yet_the_second_is_listed() {
    let lab = daily().await;
    begin_round_2(&lab.ledger).await;
    let soon = AttributeValue::N((Clock::system().now().0 + 60_000).to_string());
    let late =
        lab.dynamodb.update_item().table_name(&lab.table).key("pk", AttributeValue::S("ROUND#lamp#1".to_owned()));
    let late = late.update_expression("SET closes_at_ms = :soon").expression_attribute_values(":soon", soon);
    late.send().await.unwrap();
    let list = lab.answer(&Ask::get("/v1/admin/sales").by_operator()).await.expect(200).body;
    let rounds: Vec<_> = list["sales"].as_array().unwrap().iter().map(|sale| &sale["round"]).collect();
    assert_eq!(rounds, [2]);
}

/// An operator who resends a key for the current round, now that the old one is over, does not know what became of it.
#[tokio::test]
async fn a_key_of_yesterday_names_nothing_else_today() {
    let lab = daily().await;
    lab.answer(&keyed("restock", "more", &json!({ "round": 1, "units": 5 }))).await.expect(200);
    begin_round_2(&lab.ledger).await;
    let before = updatable(&lab).await;
    for other in [
        keyed("restock", "more", &json!({ "round": 2, "units": 5 })),
        keyed("restock", "more", &json!({ "round": 2, "units": 6 })),
        keyed("pause", "more", &json!({ "round": 2 })),
        keyed("end_recurrence", "more", &json!({ "round": 2 })),
    ] {
        lab.answer(&other).await.problem(409, "key_reused");
    }
    assert_eq!(updatable(&lab).await, before);
    lab.answer(&keyed("restock", "still-more", &json!({ "round": 2, "units": 5 }))).await.expect(200);
}

#[tokio::test]
async fn a_key_that_named_another_request_is_refused() {
    let lab = Lab::selling(terms(3, 1)).await;
    let restock = |units: u32| keyed("restock", "key-1", &json!({ "round": 1, "units": units }));
    assert_eq!(lab.answer(&restock(2)).await.expect(200).body["total"], 5);
    assert_eq!(lab.answer(&restock(2)).await.expect(200).body["total"], 5, "the same request again");
    let before = updatable(&lab).await;
    let others = [
        restock(20),
        keyed("pause", "key-1", &json!({ "round": 1 })),
        keyed("throttle", "key-1", &json!({ "round": 1, "requests_per_s": 2 })),
        keyed("restock", "key-1", &json!({ "round": 2, "units": 2 })),
        keyed("end_recurrence", "key-1", &json!({ "round": 1 })),
    ];
    for other in others {
        lab.answer(&other).await.problem(409, "key_reused");
    }
    assert_eq!(updatable(&lab).await, before);
    // A part of a used key is a different key.
    assert_eq!(
        lab.answer(&keyed("restock", "key", &json!({ "round": 1, "units": 1 }))).await.expect(200).body["total"],
        6
    );
}

#[tokio::test]
async fn a_round_that_is_over_takes_no_units_and_is_not_resumed() {
    let lab = Lab::selling(terms(3, 1)).await;
    let restock = keyed("restock", "key-1", &json!({ "round": 1, "units": 2 }));
    lab.answer(&restock).await.expect(200);
    lab.answer(&ask("close", &json!({ "round": 1 }))).await.expect(200);
    let before = updatable(&lab).await;
    let late = [keyed("restock", "key-2", &json!({ "round": 1, "units": 2 })), ask("resume", &json!({ "round": 1 }))];
    for ask in late {
        let refused = lab.answer(&ask).await.problem(409, "not_amendable");
        assert_eq!(refused.text("detail"), "round 1 is over");
    }
    assert_eq!(updatable(&lab).await, before);
    lab.answer(&restock).await.expect(200);
    assert_eq!(lab.round().await.terms.total, 5, "a change from before the end stands");
}

#[tokio::test]
async fn the_log_says_who_did_what_and_when() {
    let lab = Lab::new().await;
    let began = Clock::system().now();
    let opens_at = Ask::post("/v1/admin/sales")
        .by_operator()
        .json(&new_sale(SALE, &json!({ "total": 5, "recurrence": { "every": "day", "time_zone": "Etc/UTC" } })));
    lab.answer(&opens_at).await.expect(201);
    lab.answer(&Ask::post_sale("publish")).await.expect(200);
    let pause = ask("pause", &json!({ "round": 1 }));
    lab.answer(&pause).await.expect(200);
    for _ in 0..2 {
        lab.answer(&keyed("restock", "more", &json!({ "round": 1, "units": 20 }))).await.expect(200);
    }
    lab.answer(&ask("end_recurrence", &json!({ "round": 1 }))).await.expect(200);
    let look = async || lab.answer(&Ask::get(format!("/v1/admin/sales/{SALE}")).by_operator()).await.expect(200).body;
    let seen = look().await;
    assert_eq!((&seen["version"], &seen["round_version"]), (&json!(3), &json!(3)));
    let log = seen["log"].as_array().unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry["action"].as_str().unwrap(), entry.get("parameters"))).collect();
    let (units, round) = (json!("20"), json!("1"));
    let expected = [
        ("create", None),
        ("publish", None),
        ("pause", None),
        ("restock", Some(&units)),
        ("end_recurrence", Some(&round)),
    ];
    assert_eq!(told, expected);
    let moments: Vec<EpochMs> =
        log.iter().map(|entry| entry["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().into()).collect();
    assert!(moments.is_sorted() && moments[0] >= began && moments[4] <= Clock::system().now(), "{moments:?}");
    assert!(log.iter().all(|entry| entry["by"] == "olga"), "{log:?}");
}
