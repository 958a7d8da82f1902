//! Without the table.

use super::common::{MINUTE, OUTAGE, STEP_S, When, World};
use super::running::Backlog;
use crate::prelude::*;

/// How long reservations go on with the last snapshot: `held` in `shared/process/src/snapshots.rs`. It may already be
/// some seconds old.
const SNAPSHOT_S: u64 = 5 * 60;
const ABOUT_S: u64 = 2 * STEP_S as u64;

pub(super) async fn without_dynamodb() -> Backlog {
    let mut world = World::selling().await;
    world.pass(MINUTE).await;
    assert!(world.heard(When::Before).all(|heard| heard.answer.status == 202));

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
    world.looks_are_honest();

    world.dynamodb.set(Reach::Answers).await;
    let backlog = world.work_off().await.reported("DynamoDB");
    for heard in world.heard(When::After) {
        assert_eq!(heard.answer.status, 202, "{heard:?}");
    }
    world.looks_are_honest();
    world.ends_well("ten_minutes_without_dynamodb", Redis::Keeps).await;
    backlog
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_dynamodb() {
    without_dynamodb().await;
}
