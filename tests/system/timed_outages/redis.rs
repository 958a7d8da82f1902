//! Without Redis, which keeps its data or loses it.

use super::common::{MINUTE, OUTAGE, When, World};
use super::running::Backlog;
use crate::prelude::*;

async fn without_redis(test: &str, away: Reach, is_lost: bool) -> Backlog {
    let mut world = World::selling().await;
    world.pass(MINUTE).await;
    assert!(world.heard(When::Before).all(|heard| heard.answer.status == 202));
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
    world.looks_are_honest();
    assert!(world.made_since_it_went().await > 0, "orders need only the ledger");

    if is_lost {
        world.redis_begins_empty().await;
    }
    world.redis.set(Reach::Answers).await;
    let runs = world.runs;
    let backlog = world.work_off().await.reported(if is_lost { "Redis, which comes back empty" } else { "Redis" });
    for heard in world.heard(When::After) {
        match heard.answer.status {
            // The next run of a schedule rebuilds what is lost.
            503 if heard.may_be_turned_away() || is_lost && heard.runs == runs => {
                drop(heard.answer.clone().problem(503, "overloaded"));
            }
            status => assert_eq!(status, 202, "{heard:?}"),
        }
    }
    world.looks_are_honest();
    world.ends_well(test, if is_lost { Redis::MayForgetFrom(lost_at) } else { Redis::Keeps }).await;
    backlog
}

pub(super) async fn without_redis_which_keeps_everything() -> Backlog {
    without_redis("ten_minutes_without_redis", Reach::Silent, false).await
}

pub(super) async fn without_redis_which_comes_back_empty() -> Backlog {
    without_redis("ten_minutes_without_redis_empty", Reach::Refuses, true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_redis_which_keeps_everything() {
    without_redis_which_keeps_everything().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_redis_which_comes_back_empty() {
    without_redis_which_comes_back_empty().await;
}
