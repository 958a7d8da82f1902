//! Reservations that could not become orders.

use sale::{Failure, HoldState, OrderState, Unit};
use tests::terms;

use crate::ask::Ask;
use crate::events;
use crate::lab::{Lab, message_batch};
use crate::resources::{depth, receive};

#[tokio::test]
async fn a_dead_letter_is_given_up_for_good() {
    let lab = Lab::selling(terms(2, 1)).await;
    let alice = lab.reserve("alice").await;
    for _ in 0..2 {
        let response = dead_letter::handle(&lab.dead_letter(), message_batch(&[&alice])).await;
        assert!(response.batch_item_failures.is_empty());
        let order = lab.order_of(&alice).await;
        assert_eq!((order.state, order.failure), (OrderState::Failed, Some(Failure::DeadLetter)));
        assert_eq!(lab.hold_state(&alice).await, HoldState::Released);
        assert_eq!(lab.free().await, [Unit(1), Unit(2)]);
    }
    let before = lab.contents().await;
    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    assert_eq!(lab.contents().await, before, "the late order message changes nothing");
    assert_eq!(lab.clean_audit().await, (2, 0, 0));
    assert_eq!(lab.buy("bob").await.unit, Unit(1));
    assert_eq!(lab.buy("alice").await.unit, Unit(2), "her slot is free");
    assert_eq!(lab.clean_audit().await, (0, 0, 2));
}

#[tokio::test]
async fn an_order_that_was_made_all_the_same_stays() {
    let lab = Lab::selling(terms(2, 1)).await;
    let alice = lab.buy("alice").await;
    lab.calls.take();
    let response = dead_letter::handle(&lab.dead_letter(), message_batch(&[&alice])).await;
    assert!(response.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Pending);
    assert!(lab.calls.take_targets().contains(&"AmazonSQS.SendMessage".to_owned()), "it still has to expire");
    assert_eq!(lab.clean_audit().await, (1, 0, 1));
}

#[tokio::test]
async fn a_unit_that_another_has_is_not_sold_again() {
    let lab = Lab::selling(terms(2, 1)).await;
    let before = lab.contents().await.keys;
    lab.buy("bob").await;
    lab.rewind(&before).await;
    let alice = lab.reserve("alice").await;
    let response = dead_letter::handle(&lab.dead_letter(), message_batch(&[&alice])).await;
    assert!(response.batch_item_failures.is_empty());
    assert_eq!(lab.hold_state(&alice).await, HoldState::Released);
    assert_eq!(lab.order_of(&lab.buy("carol").await).await.unit, Unit(2));
    lab.answer(&Ask::reserve("lamp", "dave")).await.problem(409, "sold_out");
    assert_eq!(lab.clean_audit().await, (0, 0, 2));
}

#[tokio::test]
async fn what_nobody_can_read_is_kept() {
    let lab = Lab::selling(terms(2, 1)).await;
    let before = lab.contents().await;
    let bodies = ["not an order", "", "{}", r#"{"v":2,"id":"lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff"}"#];
    let response = dead_letter::handle(&lab.dead_letter(), events::batch(bodies)).await;
    assert_eq!(response.batch_item_failures.len(), 0);
    let after = lab.contents().await;
    assert_eq!((&before.keys, &before.items), (&after.keys, &after.items));
    let kept = receive(&lab.sqs, &lab.quarantine_url).await;
    let kept: Vec<&str> = kept.iter().map(|message| message.body().unwrap()).collect();
    assert_eq!(kept.len(), 4);
    // SQS takes no empty message, so one is kept in words.
    let expected = bodies.map(|body| if body.is_empty() { "(an empty message)" } else { body });
    assert!(expected.iter().all(|body| kept.contains(body)), "{kept:?}");
}

#[tokio::test]
async fn poison_that_cannot_be_kept_is_not_dropped() {
    let lab = Lab::new().await;
    lab.sqs.delete_queue().queue_url(&lab.quarantine_url).send().await.unwrap();
    let response = dead_letter::handle(&lab.dead_letter(), events::batch(["not an order"])).await;
    assert_eq!(response.batch_item_failures.len(), 1);
    assert_eq!(depth(&lab.sqs, &lab.orders_url).await, [0, 0, 0]);
}
