//! What operators see of a running sale: the right figures at the cost of few calls.

use crate::prelude::*;

/// How long the function keeps what it has read of orders.
const KEPT: Duration = Duration::from_secs(3);

fn look() -> Ask {
    Ask::get(format!("/v1/admin/sales/{SALE}/live")).by_operator()
}

async fn answer(deps: &admin::AdminDeps) -> Value {
    deps.answer(&look()).await.expect(200).body
}

async fn live(lab: &Lab) -> Value {
    answer(&lab.admin()).await
}

fn units(live: &Value) -> [u64; 5] {
    ["total", "free", "held", "ordered", "paid"].map(|place| live["units"][place].as_u64().unwrap())
}

#[tokio::test]
async fn units_by_their_place_along_a_purchase() {
    let lab = Lab::selling(terms(5, 2)).await;
    assert_eq!(units(&live(&lab).await), [5, 5, 0, 0, 0]);
    let alices = lab.reserve("alice").await;
    let seen = live(&lab).await;
    assert_eq!((units(&seen), &seen["state"], &seen["stopped"]), ([5, 4, 1, 0, 0], &json!("open"), &json!(false)));
    assert!(seen["queues"][0]["oldest_s"].as_u64().is_some_and(|age_s| age_s < 60), "{seen}");
    lab.deliver(&[&alices]).await;
    let seen = live(&lab).await;
    assert_eq!((units(&seen), &seen["queues"][0]["oldest_s"]), ([5, 4, 0, 1, 0], &Value::Null));
    assert_eq!(lab.pay("pay_alice", &alices).await, "applied");
    let bobs = lab.buy("bob").await;
    assert_eq!(units(&live(&lab).await), [5, 3, 0, 1, 1]);
    lab.answer(&Ask::delete(format!("/v1/reservations/{}", bobs.id)).by("bob")).await.expect(200);
    assert_eq!(units(&live(&lab).await), [5, 4, 0, 0, 1]);
}

#[tokio::test]
async fn queues_and_their_dead_letters() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.reserve("alice").await;
    for queue in ["orders_dlq", "orders_dlq", "expiry_dlq", "quarantine"] {
        lab.send(queue, "x").await;
    }
    lab.sqs.send_message().queue_url(lab.queue("expiry")).message_body("x").delay_seconds(900).send().await.unwrap();
    let seen = live(&lab).await;
    let row = |at: usize| {
        ["queue", "waiting", "delayed", "in_flight", "dead"].map(|name| seen["queues"][at][name].clone()).to_vec()
    };
    assert_eq!(json!(row(0)), json!(["orders", 1, 0, 0, 2]));
    assert_eq!(json!(row(1)), json!(["expiry", 0, 1, 0, 1]));
    assert_eq!(json!(row(2)), json!(["quarantine", null, null, null, 1]));
}

/// Two operators who look every second cost the ledger no more than one who looks occasionally.
#[tokio::test]
async fn orders_are_read_once_for_all_who_watch_and_paid_ones_never_again() {
    let lab = Lab::selling(terms(5, 1)).await;
    let (alices, _) = (lab.buy("alice").await, lab.buy("bob").await);
    assert_eq!(lab.pay("pay_alice", &alices).await, "applied");
    let deps = lab.admin();
    lab.calls.take();
    let read_at = Instant::now();
    let (first, second) = tokio::join!(answer(&deps), answer(&deps));
    assert_eq!((units(&first), units(&second)), ([5, 3, 0, 1, 1], [5, 3, 0, 1, 1]));
    let keys_read = || {
        let reads = lab.calls.take().into_iter().filter(|call| call.target.ends_with("BatchGetItem"));
        reads.map(|read| read.body["RequestItems"][&lab.table]["Keys"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(keys_read(), [2]);
    lab.buy("carol").await;
    let stale = answer(&deps).await;
    if read_at.elapsed() < KEPT {
        assert_eq!(units(&stale), [5, 2, 1, 1, 1], "carol's order has not been read yet, so her unit counts as held");
    }
    until("a second reading", async || (units(&answer(&deps).await) == [5, 2, 0, 2, 1]).then_some(())).await;
    assert_eq!(keys_read(), [2], "alice's paid order is not read again");
}

#[tokio::test]
async fn a_round_of_very_many_units_has_no_figures_of_the_ledger() {
    let lab = Lab::selling(terms(10_001, 1)).await;
    lab.buy("alice").await;
    lab.calls.take();
    let seen = live(&lab).await;
    assert_eq!((&seen["units"]["free"], &seen["units"]["paid"]), (&json!(10_000), &Value::Null));
    assert!(!lab.calls.take_targets().iter().any(|target| target.ends_with("Query")));
}

#[tokio::test]
async fn answers_are_counted_and_told_in_one_call() {
    let lab = Lab::selling(terms(2, 1)).await;
    for (user, status) in [("alice", 202), ("alice", 409), ("bob", 202), ("carol", 409), ("dave", 409)] {
        assert_eq!(lab.answer(&Ask::reserve(SALE, user)).await.status, status);
    }
    let challenge = Ask::post(format!("/v1/sales/{SALE}/challenges")).by("erin");
    lab.answer(&challenge).await.expect(201);
    lab.answer(&Ask::reserve("nowhere", "alice")).await.problem(503, "overloaded");
    assert_eq!(live(&lab).await["answers"], json!({}));
    // The first flush loads the script.
    lab.snapshots.flush_answers(&lab.stock).await;
    let counted = json!({ "accepted": 2, "limit_reached": 1, "sold_out": 2, "challenged": 1 });
    assert_eq!(live(&lab).await["answers"], counted);

    let ((), nothing) = redis_calls(&lab.valkey.url(), lab.snapshots.flush_answers(&lab.stock)).await;
    assert_eq!(nothing, [""; 0]);
    for _ in 0..20 {
        lab.answer(&Ask::reserve(SALE, "frank")).await.problem(409, "sold_out");
    }
    let ((), told) = redis_calls(&lab.valkey.url(), lab.snapshots.flush_answers(&lab.stock)).await;
    assert_eq!(told, ["EVALSHA"]);
    assert_eq!(live(&lab).await["answers"]["sold_out"], 22);
}

/// Counts are flushed once a second, and no request waits for it.
#[tokio::test]
async fn redis_is_told_beside_the_requests() {
    let lab = Lab::selling(terms(1, 1)).await;
    lab.reserve("alice").await;
    lab.snapshots.flush_answers(&lab.stock).await;
    let began = Instant::now();
    let mut asked = 0;
    let flushed = until("the counts are flushed", async || {
        // A user who holds a unit is never answered without Redis.
        lab.answer(&Ask::reserve(SALE, "alice")).await.problem(409, "limit_reached");
        asked += 1;
        lab.snapshots.flush_answers_soon(&lab.stock);
        let answers = lab.stock.round(&round(SALE, 1)).answers().await.unwrap();
        answers.contains_key("limit_reached").then_some(())
    });
    let ((), calls) = redis_calls(&lab.valkey.url(), flushed).await;
    let most = began.elapsed().as_secs() as usize;
    let flushes = calls.iter().filter(|call| *call == "EVALSHA").count() - asked;
    assert!((1..=most).contains(&flushes), "{flushes} flushes in {most} s, and a script for each of {asked} requests");
}

#[tokio::test]
async fn what_does_not_answer_is_left_out() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.buy("alice").await;
    lab.delete_queue("expiry").await;
    let deps = admin::AdminDeps { stock: Stock::new("redis://127.0.0.1:1").unwrap(), ..lab.admin() };
    let seen = tokio::time::timeout(Duration::from_secs(10), answer(&deps)).await.unwrap();
    assert_eq!((&seen["units"], &seen["answers"]), (&Value::Null, &Value::Null));
    assert_eq!((&seen["queues"][0]["waiting"], &seen["queues"][0]["oldest_s"]), (&json!(1), &Value::Null));
    assert_eq!((&seen["queues"][1]["waiting"], &seen["queues"][1]["dead"]), (&Value::Null, &json!(0)));
}

#[tokio::test]
async fn what_a_sale_is_that_does_not_sell() {
    let lab = Lab::new().await;
    lab.answer(&look()).await.problem(404, "unknown_sale");
    rounds::draft(&lab.ledger, SALE, &terms(1, 1), None).await;
    assert_eq!(live(&lab).await["state"], "draft");
    lab.publish(SALE, &terms(1, 1)).await;
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(503, "overloaded");
    lab.snapshots.flush_answers(&lab.stock).await;
    let kept = lab.contents().await.keys;
    assert!(kept.keys().all(|key| key.starts_with("asked:")), "Redis does not have the round: {kept:?}");
    let seen = live(&lab).await;
    assert_eq!((&seen["units"], &seen["answers"]), (&Value::Null, &json!({})));
    lab.operate("stop", &json!({})).await.expect(200);
    let seen = live(&lab).await;
    assert_eq!((&seen["state"], &seen["stopped"]), (&json!("paused"), &json!(true)));
}
