//! The green channel: an order at once, without waiting for the queue.

use messaging::queue::ExpiryQueue;

use crate::prelude::*;

pub(crate) fn expedite(id: impl std::fmt::Display, user: &str) -> Ask {
    Ask::get(format!("/v1/reservations/{id}?expedite=true")).by(user)
}

#[tokio::test]
async fn the_order_is_made_at_once_and_its_message_changes_nothing() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = lab.reserve("alice").await;
    let look = Ask::status(&alice);
    let queued = ask_function(&lab.recorder, &lab.just_reserved(), &look).await.expect(200);
    assert_eq!(queued.text("status"), "queued");

    let ordered = lab.answer(&expedite(&alice.id, "alice")).await.expect(200);
    assert_eq!(ordered.text("status"), "pending_payment");
    assert_eq!(lab.reservation_state(&alice).await, ReservationState::Ordered);
    assert_eq!(lab.depth("expiry").await.iter().sum::<u32>(), 1, "the expiry message is sent");
    let order = lab.order_of(&alice).await;
    assert_eq!((order.state, order.reservation.unit), (OrderState::Pending, alice.unit));

    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice).await, order);
    assert_eq!(lab.answer(&look).await.expect(200).body, ordered.body);
    assert_eq!(lab.clean_audit().await, (2, 0, 1));

    let before = lab.contents().await;
    lab.calls.take();
    assert_eq!(lab.answer(&expedite(&alice.id, "alice")).await.expect(200).body, ordered.body);
    assert_eq!(lab.calls.take_targets(), ["DynamoDB_20120810.GetItem"], "what is ordered is looked at and no more");
    assert_eq!(lab.contents().await, before);
}

#[tokio::test]
async fn only_ones_own() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = lab.reserve("alice").await;
    let before = lab.contents().await;
    let never = fresh_id(&alice.id.round);
    lab.answer(&expedite(&never, "alice")).await.problem(404, "unknown_reservation");
    let is_hidden = async || {
        for query in ["", "?expedite=true"] {
            let look = |id: &ReservationId| Ask::get(format!("/v1/reservations/{id}{query}")).by("mallory");
            let hidden = lab.answer(&look(&alice.id)).await.problem(404, "unknown_reservation");
            let missing = lab.answer(&look(&never)).await.problem(404, "unknown_reservation");
            assert_eq!(hidden.body, missing.body, "nothing tells them apart");
        }
        assert_eq!(lab.answer(&Ask::get("/v1/orders").by("mallory")).await.expect(200).body["orders"], json!([]));
    };
    is_hidden().await;
    let with = |value: &str| Ask::get(format!("/v1/reservations/{}?expedite={value}", alice.id)).by("alice");
    lab.answer(&with("yes")).await.problem(400, "invalid_request");
    let queued = ask_function(&lab.recorder, &lab.just_reserved(), &with("false")).await.expect(200);
    assert_eq!(queued.text("status"), "queued");
    assert_eq!(lab.contents().await, before);
    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    is_hidden().await;
}

/// The queue and the green channel race several times.
#[tokio::test]
async fn beside_its_message_it_makes_one_order() {
    let lab = Lab::selling(terms(20, 1)).await;
    let mut buyers = Vec::new();
    for buyer in 0..10 {
        buyers.push(lab.reserve(&format!("buyer-{buyer}")).await);
    }
    let lab = &lab;
    let both = buyers.iter().map(|reservation| async move {
        let ask = expedite(&reservation.id, reservation.user.as_str());
        let batch = [reservation];
        let (answer, again, batch) = tokio::join!(lab.answer(&ask), lab.answer(&ask), lab.deliver(&batch));
        for answer in [answer, again] {
            assert!(["queued", "pending_payment"].contains(&answer.expect(200).text("status")));
        }
        assert!(batch.batch_item_failures.is_empty());
    });
    join_all(both).await;
    for reservation in &buyers {
        assert_eq!(lab.order_of(reservation).await.state, OrderState::Pending);
    }
    assert_eq!(lab.clean_audit().await, (10, 0, 10));
    lab.check_history("green_channel", &[SALE], Redis::Keeps).await;
}

/// The order is in the ledger before its expiry message is sent. If sending fails, the order message makes up for it.
#[tokio::test]
async fn if_it_does_not_work_out_the_queue_does_it() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = lab.reserve("alice").await;
    let nowhere = format!("{}-gone", lab.queue("expiry"));
    let mut deps = lab.reservation();
    deps.fulfilment.expiry = ExpiryQueue::new(lab.sqs.clone(), nowhere, Clock::system());
    let answer = deps.answer(&expedite(&alice.id, "alice")).await.expect(200);
    assert_eq!(answer.text("status"), "pending_payment", "the order is in the ledger");
    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Pending);
    assert_eq!(lab.depth("expiry").await.iter().sum::<u32>(), 1);
    assert_eq!(lab.clean_audit().await, (2, 0, 1));
}
