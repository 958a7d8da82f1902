//! How an expiry message reaches the moment at which it is due.

use crate::prelude::*;

const TWO_HOURS_S: i64 = 2 * 60 * 60;

/// Runs the expiry function once, this many seconds from now. Returns the delays of the messages that it sent.
async fn run(lab: &Lab, message: &ExpiryMessage, in_s: i64) -> Vec<i64> {
    lab.calls.take();
    let response = expiry::handle(&lab.expiry_in(in_s), events::batch([message.to_body()])).await;
    assert!(response.batch_item_failures.is_empty());
    delays(lab, &message.id)
}

/// The delays of the messages that were sent about this order.
fn delays(lab: &Lab, id: &ReservationId) -> Vec<i64> {
    let sends = lab.calls.take().into_iter().filter(|call| call.target == "AmazonSQS.SendMessage");
    let sends = sends.map(|call| {
        let sent: Value = serde_json::from_str(call.body["MessageBody"].as_str().unwrap()).unwrap();
        assert_eq!(sent["id"], id.to_string());
        call.body["DelaySeconds"].as_i64().unwrap()
    });
    sends.collect()
}

async fn bought(window_s: i64) -> (Lab, Reservation, ExpiryMessage, Vec<i64>) {
    let lab = Lab::selling(Terms { payment_window_s: window_s as u32, ..terms(2, 1) }).await;
    let alice = lab.reserve("alice").await;
    lab.calls.take();
    lab.deliver(&[&alice]).await;
    let delays = delays(&lab, &alice.id);
    let message = ExpiryMessage::new(alice.id.clone(), lab.order_of(&alice).await.pay_by_ms.unwrap());
    (lab, alice, message, delays)
}

#[tokio::test]
async fn two_hours_are_hops_of_at_most_15_minutes() {
    let (lab, alice, message, delays) = bought(TWO_HOURS_S).await;
    assert_eq!(delays, [900]);
    // The ledger says when, and not the message.
    for message in [&message, &ExpiryMessage::new(message.id.clone(), EpochMs(0))] {
        assert_eq!(run(&lab, message, 0).await, [900]);
    }
    assert_eq!(run(&lab, &message, TWO_HOURS_S - 1000).await, [900]);
    let last = run(&lab, &message, TWO_HOURS_S - 100).await;
    assert!(last.len() == 1 && (90..=100).contains(&last[0]), "{last:?}");
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Pending);
    assert_eq!(lab.clean_audit().await, (1, 0, 1));

    for _ in 0..2 {
        assert_eq!(run(&lab, &message, TWO_HOURS_S + 1).await, [0; 0]);
        assert_eq!(lab.order_of(&alice).await.state, OrderState::Expired);
        assert_eq!(lab.reservation_state(&alice).await, ReservationState::Released);
        assert_eq!(lab.clean_audit().await, (2, 0, 0));
    }
}

#[tokio::test]
async fn what_has_ended_otherwise_is_left_alone_and_what_cannot_be_expired_comes_back() {
    let (lab, alice, message, _) = bought(30).await;
    lab.answer(&Ask::paid_for("pay_1", &alice, &lab.payment_key)).await.expect(200);
    let before = lab.contents().await;
    assert_eq!(run(&lab, &message, 31).await, [0; 0]);
    assert_eq!(lab.contents().await, before);

    let bob = lab.buy("bob").await;
    lab.answer(&Ask::cancel(&bob)).await.expect(200);
    let before = lab.contents().await;
    assert_eq!(run(&lab, &ExpiryMessage::new(bob.id, EpochMs(0)), 31).await, [0; 0]);
    assert_eq!(lab.contents().await, before);

    let nobody = events::sample("expiry/due")["Records"][0]["body"].as_str().unwrap().to_owned();
    let response = expiry::handle(&lab.expiry_in(0), events::batch([nobody, "not an order".to_owned()])).await;
    assert_eq!(response.batch_item_failures.len(), 2);
}
