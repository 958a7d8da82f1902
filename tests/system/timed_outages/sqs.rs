//! Without the queues.

use super::common::{MINUTE, OUTAGE, When, World};
use super::running::Backlog;
use crate::prelude::*;

pub(super) async fn without_sqs() -> Backlog {
    let mut world = World::selling().await;
    world.pass(MINUTE).await;
    assert!(world.heard(When::Before).all(|heard| heard.answer.status == 202));

    world.lose(|world| &world.sqs, Reach::Refuses, false).await;
    world.pass(OUTAGE).await;
    let mut promised = BTreeSet::new();
    for heard in world.heard(When::During) {
        if heard.answer.status == 202 {
            // A look makes the order without the queue, and the buyer who asks again is told of it.
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
    world.looks_are_honest();

    world.sqs.set(Reach::Answers).await;
    let backlog = world.work_off().await.reported("SQS");
    for heard in world.heard(When::After) {
        match heard.answer.status {
            503 if heard.may_be_turned_away() => drop(heard.answer.clone().problem(503, "overloaded")),
            status => assert_eq!(status, 202, "{heard:?}"),
        }
    }
    world.looks_are_honest();
    world.ends_well("ten_minutes_without_sqs", Redis::Keeps).await;
    backlog
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_sqs() {
    without_sqs().await;
}
