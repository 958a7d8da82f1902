//! Cancelling a reservation while its order message is still on its way.

use crate::prelude::*;

#[tokio::test]
async fn the_message_of_a_cancelled_reservation_makes_no_order() {
    let lab = Lab::selling(terms(2, 1)).await;
    let alice = lab.reserve("alice").await;
    let first = lab.answer(&Ask::cancel(&alice)).await.expect(200).body;
    assert_eq!(first["status"], "cancelled");
    assert_eq!(lab.answer(&Ask::cancel(&alice)).await.expect(200).body, first, "the same answer again");
    let before = lab.contents().await;
    assert_eq!(lab.free().await, [Unit(1), Unit(2)]);

    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    assert_eq!(lab.contents().await, before, "the late message changes nothing and sends no expiry message");
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Cancelled);
    assert_eq!(lab.clean_audit().await, (2, 0, 0));
    // Alice's slot is free again too.
    assert_eq!(lab.buy("alice").await.slot, alice.slot);
}

/// Redis has forgotten the first reservation, so it treats the repeated request as new. Its message, or a look two seconds
/// later, finds the order that has ended.
#[tokio::test]
async fn a_late_repeat_of_what_was_cancelled_ends_cancelled_and_counts_once() {
    let lab = Lab::selling(terms(3, 1)).await;
    let reserve = async |key: &str| {
        lab.sell_returned().await;
        lab.accepted(&Ask::reserve("lamp", "alice").header("idempotency-key", key), "alice").await
    };
    let first = reserve("key-1").await;
    lab.answer(&Ask::cancel(&first)).await.expect(200);
    let second = reserve("key-2").await;
    lab.answer(&Ask::cancel(&second)).await.expect(200);
    assert_eq!(reserve("key-2").await.id, second.id, "Redis remembers the last one, and takes no unit for it");

    assert_eq!(reserve("key-1").await.id, first.id);
    let look = Ask::status(&first);
    let queued = ask_function(&lab.recorder, &lab.just_reserved(), &look).await.expect(200);
    assert_eq!(queued.text("status"), "queued");
    let later = lab.another_reservation(Clock::ahead_by_ms(2_500));
    assert_eq!(later.answer(&look).await.expect(200).text("status"), "cancelled");
    assert_eq!(lab.clean_audit().await, (3, 0, 0));
    // Two orders have ended unpaid, and three are allowed.
    reserve("key-3").await;
}

/// Redis gave the unit out twice, and learns of the cancellation before it learns of the order that has the unit.
#[tokio::test]
async fn a_unit_that_another_has_is_not_sold_again() {
    let lab = Lab::selling(terms(2, 1)).await;
    lab.lose_what(lab.buy("bob")).await;
    let alice = lab.reserve("alice").await;
    lab.answer(&Ask::cancel(&alice)).await.expect(200);
    assert_eq!(lab.reservation_state(&alice).await, ReservationState::Released);
    assert_eq!(lab.order_of(&lab.buy("carol").await).await.reservation.unit, Unit(2));
    lab.answer(&Ask::reserve("lamp", "dave")).await.problem(409, "sold_out");
    assert_eq!(lab.clean_audit().await, (0, 0, 2));
    lab.check_history_of_a_loss("cancelling_rewound").await;
}
