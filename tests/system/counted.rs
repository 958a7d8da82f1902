//! What a request for a unit costs, counted in calls to Redis and AWS.

use crate::prelude::*;

async fn counted(lab: &Lab, ask: &Ask) -> (Answer, Vec<String>, Vec<String>) {
    lab.calls.take();
    let (answer, redis) = redis_calls(&lab.valkey.url(), lab.answer(ask)).await;
    (answer, redis, lab.calls.take_targets())
}

async fn lab() -> Lab {
    let lab = Lab::selling(terms(3, 1)).await;
    // A process's first request connects and loads the script. It gets its order: a reservation without one is sent
    // again after two seconds.
    lab.buy("first").await;
    lab
}

#[tokio::test]
async fn a_winner_costs_one_call_of_redis_and_one_message() {
    let lab = lab().await;
    let reserve = Ask::reserve("lamp", "alice").header("idempotency-key", "key-1");
    let (answer, redis, aws) = counted(&lab, &reserve).await;
    let id = answer.expect(202).text("reservation_id").to_owned();
    assert_eq!((redis, aws), (vec!["EVALSHA".to_owned()], vec!["AmazonSQS.SendMessage".to_owned()]));
    // Any process derives the same one, whatever Redis remembers.
    assert_eq!(id, ReservationId::derived(round("lamp", 1), &user("alice"), "key-1").to_string());

    // A retry sends the message again while there is no order, because the first one may be lost.
    let (answer, redis, aws) = counted(&lab, &reserve).await;
    let alice = lab.reservation_of(answer, "alice").await;
    assert_eq!(alice.id.to_string(), id);
    assert_eq!((redis, aws), (vec!["EVALSHA".to_owned()], vec!["AmazonSQS.SendMessage".to_owned()]));

    lab.deliver(&[&alice]).await;
    let (answer, redis, aws) = counted(&lab, &reserve).await;
    assert_eq!(answer.expect(202).text("reservation_id"), id);
    assert_eq!((redis, aws.len()), (vec!["EVALSHA".to_owned()], 0), "there is an order");
}

/// Whoever wins while a message is on its way goes with the next call. Each 202 still means that SQS has the message.
#[tokio::test]
async fn winners_of_one_moment_share_calls() {
    const WINNERS: usize = 24;
    let lab = Lab::selling(terms(WINNERS as u32 + 1, 1)).await;
    let parts = Parts::patient(&lab).await;
    let deps = parts.start(reservation::ReservationDeps::new);
    let ask = async |user: String| {
        ask_function(&lab.recorder, &deps, &Ask::reserve("lamp", &user)).await.expect(202);
    };
    ask("first".to_owned()).await;
    parts.aws.set(Service::Sqs, Conduct::AnswersAfter(Duration::from_millis(300)));
    join_all((0..WINNERS).map(|number| ask(format!("user-{number}")))).await;
    let calls = parts.aws.answered("AmazonSQS.SendMessage") + parts.aws.answered("AmazonSQS.SendMessageBatch");
    assert!(calls <= WINNERS / 2, "{calls} calls for {} messages", WINNERS + 1);
    assert_eq!(lab.depth("orders").await, [WINNERS as u32 + 1, 0, 0]);
}

#[tokio::test]
async fn every_refusal_costs_one_call_of_redis_and_no_message() {
    let lab = lab().await;
    let (coming, over) = (rounds::from_to(200, 260, terms(10, 1)), rounds::from_to(-120, -60, terms(10, 1)));
    for (sale, terms) in [("coming", coming), ("over", over), ("gone", terms(1, 1))] {
        lab.open(sale, &terms).await;
    }
    lab.publish("paused", &terms(1, 1)).await;
    rounds::change(&lab.ledger, &round("paused", 1), |round| round.paused = true).await;
    lab.load("paused").await;
    lab.answer(&Ask::reserve("gone", "first")).await.expect(202);

    for (sale, user, status, code) in [
        ("lamp", "first", 409, "limit_reached"),
        ("coming", "early", 409, "not_open"),
        ("over", "late", 410, "closed"),
        ("paused", "alice", 503, "paused"),
        // A pass proves that its sale was published, so a process that does not know the sale has a stale list.
        ("nowhere-1", "alice", 503, "overloaded"),
        ("nowhere-2", "bob", 503, "overloaded"),
        // Must be last: after this answer the process starts to read the buyers in the background.
        ("gone", "late", 409, "sold_out"),
    ] {
        let (answer, mut redis, aws) = counted(&lab, &Ask::reserve(sale, user)).await;
        let answer = answer.problem(status, code);
        if code == "sold_out" {
            redis.retain(|call| call == "EVALSHA");
        }
        assert_eq!((redis, aws), (vec!["EVALSHA".to_owned()], vec![]), "{code}");
        assert_eq!(answer.headers.contains_key("retry-after"), status == 503 || code == "not_open", "{code}");
        if code == "not_open" {
            let retry_after_s: u32 = answer.header("retry-after").parse().unwrap();
            assert!((150..=200).contains(&retry_after_s), "when it opens, and not {retry_after_s}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_costs_nothing() {
    let lab = lab().await;
    for ask in [
        Ask::reserve("Lamp", "alice"),
        Ask::reserve("lamp", "alice").body("x").header("content-type", "application/json"),
        Ask::reserve("lamp", "alice").header("idempotency-key", ""),
        Ask::reserve("lamp", "a user"),
        Ask::post("/v1/sales/lamp/reservations/1"),
    ] {
        let (answer, redis, aws) = counted(&lab, &ask).await;
        assert!((400..500).contains(&answer.status), "{answer:?}");
        assert_eq!((redis.len(), aws.len()), (0, 0), "{ask:?}");
    }
}
