//! Reservations that could not become orders.

use crate::prelude::*;

/// Delivers a reservation's message to the dead-letter function, which must take it.
async fn take(lab: &Lab, reservation: &Reservation) {
    let response = dead_letter::handle(&lab.dead_letter(), message_batch([reservation])).await;
    assert!(response.batch_item_failures.is_empty());
}

/// Its sale was never published, so no retry can help.
#[tokio::test]
async fn a_dead_letter_of_no_sale_is_given_up_for_good() {
    let lab = Lab::selling(terms(2, 1)).await;
    let alice = lab.reserve("alice").await;
    let mut items = items(&lab.dynamodb, &lab.table).await;
    let published = ["SALE#lamp", "ROUND#lamp#1"].map(|pk| items.remove(pk).unwrap());
    for pk in ["SALE#lamp", "ROUND#lamp#1"] {
        lab.delete_item(pk).await;
    }
    for _ in 0..2 {
        take(&lab, &alice).await;
        let order = lab.order_of(&alice).await;
        assert_eq!((order.state, order.failure), (OrderState::Failed, Some(Failure::UnknownSale)));
        assert_eq!(lab.reservation_state(&alice).await, ReservationState::Released);
        assert_eq!(lab.free().await, [Unit(1), Unit(2)]);
    }
    for item in published {
        lab.put_item(item).await;
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
async fn whose_unit_another_has_gets_another_one_and_fails_if_none_is_left() {
    let lab = Lab::selling(terms(2, 1)).await;
    let before = lab.contents().await.keys;
    lab.buy("bob").await;
    lab.rewind(&before).await;
    let alice = lab.reserve("alice").await;
    take(&lab, &alice).await;
    let order = lab.order_of(&alice).await;
    assert_eq!((order.state, order.reservation.unit), (OrderState::Pending, Unit(2)));
    lab.rewind(&before).await;
    let carol = lab.reserve("carol").await;
    assert_eq!(carol.unit, Unit(1));
    lab.redis(&["SETRANGE", "sale:{lamp:1:0}", "0", "\0\0\0\u{3}"]).await;
    take(&lab, &carol).await;
    let order = lab.order_of(&carol).await;
    assert_eq!((order.state, order.failure), (OrderState::Failed, Some(Failure::SoldOut)));
    assert_eq!(lab.reservation_state(&carol).await, ReservationState::Released);
    lab.deliver(&[&alice]).await;
    lab.answer(&Ask::reserve("lamp", "dave")).await.problem(409, "sold_out");
    assert_eq!(lab.clean_audit().await, (0, 0, 2));
    lab.check_history_of_a_loss("dead_letters_rewound").await;
}

#[tokio::test]
async fn what_nobody_can_read_is_kept_or_comes_back() {
    let lab = Lab::selling(terms(2, 1)).await;
    let before = lab.contents().await;
    let bodies = ["not an order", "", "{}", r#"{"v":2,"id":"lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff"}"#];
    let response = dead_letter::handle(&lab.dead_letter(), events::batch(bodies)).await;
    assert_eq!(response.batch_item_failures.len(), 0);
    let after = lab.contents().await;
    assert_eq!((&before.keys, &before.items), (&after.keys, &after.items));
    let kept = lab.receive("quarantine").await;
    let kept: Vec<&str> = kept.iter().map(|message| message.body().unwrap()).collect();
    assert_eq!(kept.len(), 4);
    // SQS accepts no empty message, so a placeholder is kept.
    let expected = bodies.map(|body| if body.is_empty() { "(an empty message)" } else { body });
    assert!(expected.iter().all(|body| kept.contains(body)), "{kept:?}");

    lab.delete_queue("quarantine").await;
    let response = dead_letter::handle(&lab.dead_letter(), events::batch(["not an order"])).await;
    assert_eq!(response.batch_item_failures.len(), 1);
    assert_eq!(lab.depth("orders").await, [0, 0, 0]);
}

/// Their units are others'. No unit can be found for them once Redis has lost their round and it is over, or has a successor.
#[tokio::test]
async fn a_dead_letter_of_a_round_that_has_left_fails_only_once_it_has() {
    let lab = Lab::new().await;
    rounds::publish_daily(&lab.ledger, SALE, &terms(3, 1)).await;
    lab.load(SALE).await;
    lab.lose_what(async { (lab.buy("bob").await, lab.buy("carol").await) }).await;
    let [alice, dave] = [lab.reserve("alice").await, lab.reserve("dave").await];
    lab.redis(&["FLUSHALL"]).await;
    let deps = lab.dead_letter();
    let response = dead_letter::handle(&deps, message_batch([&alice, &dave])).await;
    assert_eq!(response.batch_item_failures.len(), 2, "the round is rebuilt within a minute, so they are retried");
    assert_eq!(lab.ledger.order(&alice.id).await.unwrap(), None);
    let closed = dead_letter::DeadLetterDeps { clock: Clock::ahead_by_ms(4_000_000), ..deps };
    let response = dead_letter::handle(&closed, message_batch([&alice])).await;
    assert!(response.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice).await.failure, Some(Failure::SoldOut));

    rounds::pass_a_day(&lab.ledger, SALE).await;
    assert_eq!(daily_reset::handle(&lab.daily_reset()).await.unwrap().begun, 1);
    take(&lab, &dave).await;
    assert_eq!(lab.order_of(&dave).await.failure, Some(Failure::SoldOut));
}
