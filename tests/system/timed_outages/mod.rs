//! Ten minutes without a part, on a clock that the test moves: buyers come before, during and after, queues and
//! schedules run as often as they would, and the work that each outage leaves is done and timed.

mod buyers;
mod common;
mod queues;
mod running;
mod time;

use crate::prelude::*;
use common::{Heard, MINUTE, OUTAGE, PAYMENT_KEY, STEP_S, When, World};

/// How long reservations go on with the last snapshot: `held` in `shared/process/src/snapshots.rs`. It may already be
/// some seconds old.
const SNAPSHOT_S: u64 = 5 * 60;
const ABOUT_S: u64 = 2 * STEP_S as u64;
const NEXT_KEY: &str = "the next key of payments, which is long enough too";
/// A process reads a secret again a minute after a failure. The rest of the time is for a request to arrive.
const MOST_STEPS: u32 = 3 * MINUTE;

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_dynamodb() {
    let mut world = World::selling().await;
    world.lose(|world| &world.dynamodb, Reach::Refuses, true).await;
    world.pass(OUTAGE).await;
    for heard in world.heard(When::During) {
        if heard.after_s < SNAPSHOT_S - ABOUT_S {
            assert_eq!(heard.answer.status, 202, "it takes only Redis and SQS: {heard:?}");
        } else if heard.after_s > SNAPSHOT_S + ABOUT_S {
            let refused = heard.answer.clone().problem(503, "overloaded");
            assert!(refused.body["reservation_id"].is_null(), "the sale may be stopped: {heard:?}");
        }
    }
    world.dynamodb.set(Reach::Answers).await;
    let left = world.ends_well("ten_minutes_without_dynamodb", Redis::Keeps, |_| false).await;
    assert!(left > 0, "an outage that leaves no work shows nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_sqs() {
    let mut world = World::selling().await;
    world.lose(|world| &world.sqs, Reach::Refuses, false).await;
    world.pass(OUTAGE).await;
    let mut promised = BTreeSet::new();
    for heard in world.heard(When::During) {
        if heard.answer.status == 202 {
            // A poll makes the order without the queue, and a buyer who repeats the request with its key gets 202.
            assert!(heard.has_key, "{heard:?}");
            promised.insert(heard.answer.text("reservation_id").parse().unwrap());
            continue;
        }
        // The unit is the buyer's, but nothing is promised before the queue has the message.
        let refused = heard.answer.clone().problem(503, "overloaded");
        assert!(refused.text("reservation_id").starts_with("lamp."), "{heard:?}");
    }
    let promised: Vec<ReservationId> = promised.into_iter().collect();
    assert_eq!(world.orders(&promised).await.len(), promised.len(), "every promise without a message has an order");
    world.sqs.set(Reach::Answers).await;
    let left = world.ends_well("ten_minutes_without_sqs", Redis::Keeps, Heard::may_be_turned_away).await;
    assert!(left > 0, "an outage that leaves no work shows nothing");
}

async fn without_redis(test: &str, away: Reach, is_lost: bool) {
    let mut world = World::selling().await;
    // Their messages are still in the queue when Redis goes.
    world.crowd().await;
    let lost_at = world.lab.recorder.now_ns();
    world.lose(|world| &world.redis, away, true).await;
    // Waiting for a silent Redis takes time on the machine's clock, so the silence does not last long.
    world.pass(MINUTE / 4).await;
    world.redis.set(Reach::Refuses).await;
    world.pass(OUTAGE - MINUTE / 4).await;
    for heard in world.heard(When::During) {
        let refused = heard.answer.clone().problem(503, "overloaded");
        assert!(refused.body["reservation_id"].is_null(), "nothing is promised: {heard:?}");
        assert_eq!(refused.header("retry-after"), "2");
    }
    assert!(world.made_since_it_went().await > 0, "orders need only the ledger");
    if is_lost {
        world.redis_begins_empty().await;
    }
    world.redis.set(Reach::Answers).await;
    let redis = if is_lost { Redis::MayForgetFrom(lost_at) } else { Redis::Keeps };
    // The next run of a schedule rebuilds what is lost.
    let runs = world.runs;
    let may_be_refused = |heard: &Heard| heard.may_be_turned_away() || is_lost && heard.runs == runs;
    let left = world.ends_well(test, redis, may_be_refused).await;
    assert!(left > 0, "an outage that leaves no work shows nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_redis_which_keeps_everything() {
    without_redis("ten_minutes_without_redis", Reach::Silent, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_redis_which_comes_back_empty() {
    without_redis("ten_minutes_without_redis_empty", Reach::Refuses, true).await;
}

/// A key changes meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_secrets_manager() {
    let mut world = World::selling().await;
    let payments = world.start(payment::PaymentDeps::new);
    world.pay(&payments, PAYMENT_KEY).await.expect(200);
    world.lose(|world| &world.secrets, Reach::Refuses, true).await;
    let mut new = Vec::new();
    for minute in 0..10 {
        world.pass(MINUTE).await;
        world.pay(&payments, PAYMENT_KEY).await.expect(200);
        // The provider repeats the callback, and the buyer may ask again.
        let without_keys = world.start(payment::PaymentDeps::new);
        world.pay(&without_keys, PAYMENT_KEY).await.problem(503, "overloaded");
        let without_keys = world.start(reservation::ReservationDeps::new);
        let (_, refused) = world.ask_of(&without_keys).await;
        assert!(refused.problem(503, "overloaded").body["reservation_id"].is_null());
        new.push(without_keys);
        if minute == 5 {
            world.payments_are_signed_with(NEXT_KEY).await;
        }
    }
    for heard in world.heard(When::During) {
        assert_eq!(heard.answer.status, 202, "a process that has the keys goes on: {heard:?}");
    }
    world.secrets.set(Reach::Answers).await;
    for deps in &new {
        let (name, answer) = world.ask_of(deps).await;
        world.note(name, true, answer.expect(202));
    }
    let mut steps = 0;
    loop {
        let answer = world.pay(&payments, NEXT_KEY).await;
        if answer.status == 200 {
            break;
        }
        answer.problem(401, "unauthorized");
        assert!(steps < MOST_STEPS, "the process reads the new key in time");
        world.pass(1).await;
        steps += 1;
    }
    eprintln!("ten minutes without Secrets Manager: the new key is in use after {} s", steps * STEP_S);
    world.ends_well("ten_minutes_without_secrets_manager", Redis::Keeps, |_| false).await;
}
