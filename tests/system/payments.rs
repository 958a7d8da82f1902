//! One payment is applied to one order, once, and only for the amount that it first came with.

use crate::prelude::*;

/// Longer than any payment window here.
const LONG_S: i64 = 7200;

async fn pay(lab: &Lab, payment: &str, reservation: &Reservation, price_minor: u64) -> String {
    let ask = Ask::paid(payment, &reservation.id.to_string(), price_minor, &lab.payment_key);
    lab.answer(&ask).await.expect(200).text("outcome").to_owned()
}

async fn taken(lab: &Lab, reservation: &Reservation) -> (OrderState, Option<String>, Vec<String>) {
    let order = lab.order_of(reservation).await;
    (order.state, order.payment_id, order.refunds_due)
}

async fn callback(lab: &Lab, body: &Value) -> Answer {
    lab.answer(&Ask::callback(body.to_string(), &lab.payment_key)).await
}

#[tokio::test]
async fn one_payment_is_not_applied_to_two_orders() {
    let lab = Lab::selling(terms(3, 1)).await;
    let (alice, bob) = (lab.buy("alice").await, lab.buy("bob").await);
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "applied");
    let before = taken(&lab, &bob).await;
    for _ in 0..2 {
        assert_eq!(pay(&lab, "pay_1", &bob, 990).await, "payment_reused");
        assert_eq!(taken(&lab, &bob).await, before, "nothing was written");
    }
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "applied", "the same callback again");
    assert_eq!(pay(&lab, "pay_2", &bob, 990).await, "applied", "with a payment of its own");
    assert_eq!(taken(&lab, &alice).await, (OrderState::Paid, Some("pay_1".to_owned()), Vec::new()));
}

#[tokio::test]
async fn one_payment_is_not_applied_to_one_order_and_given_back_for_another() {
    let lab = Lab::selling(terms(3, 1)).await;
    let (alice, bob) = (lab.buy("alice").await, lab.buy("bob").await);
    lab.answer(&Ask::cancel(&bob)).await.expect(200);
    assert_eq!(pay(&lab, "pay_1", &bob, 990).await, "refund_due");
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "payment_reused");
    assert_eq!(taken(&lab, &alice).await, (OrderState::Pending, None, Vec::new()));
    assert_eq!(pay(&lab, "pay_2", &alice, 990).await, "applied");
    assert_eq!(pay(&lab, "pay_2", &bob, 990).await, "payment_reused");
    assert_eq!(taken(&lab, &bob).await, (OrderState::Cancelled, None, vec!["pay_1".to_owned()]));
}

#[tokio::test]
async fn a_repeat_with_another_amount_is_not_applied() {
    let lab = Lab::selling(terms(3, 1)).await;
    let (alice, bob) = (lab.buy("alice").await, lab.buy("bob").await);
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "applied");
    let before = taken(&lab, &alice).await;
    assert_eq!(pay(&lab, "pay_1", &alice, 991).await, "amount_changed");
    let mut yen = sample("messages/payment");
    yen["data"] = json!({
        "payment_id": "pay_1", "reservation_id": alice.id.to_string(), "price_minor": 990, "currency": "JPY"
    });
    assert_eq!(callback(&lab, &yen).await.expect(200).text("outcome"), "amount_changed");
    assert_eq!(taken(&lab, &alice).await, before);
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "applied");
    // Nor is a payment that was to be given back because of its amount.
    assert_eq!(pay(&lab, "pay_2", &bob, 989).await, "refund_due");
    assert_eq!(pay(&lab, "pay_2", &bob, 990).await, "amount_changed");
    assert_eq!(pay(&lab, "pay_2", &bob, 989).await, "refund_due");
    assert_eq!(taken(&lab, &bob).await, (OrderState::Pending, None, vec!["pay_2".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_orders_that_one_payment_comes_for_at_once_one_takes_it() {
    let lab = Lab::selling(terms(20, 1)).await;
    for payment in ["pay_1", "pay_2", "pay_3"] {
        let mut bought = Vec::new();
        for n in 0..4 {
            bought.push(lab.buy(&format!("{payment}-{n}")).await);
        }
        let twice = bought.iter().chain(&bought);
        let mut outcomes = join_all(twice.map(|reservation| pay(&lab, payment, reservation, 990))).await;
        outcomes.sort();
        assert_eq!(outcomes, [["applied"; 2].as_slice(), &["payment_reused"; 6]].concat());
        let states = join_all(bought.iter().map(|reservation| lab.order_of(reservation))).await;
        assert_eq!(states.iter().filter(|order| order.state == OrderState::Paid).count(), 1);
    }
    lab.check_history("payments", &[SALE], Redis::Keeps).await;
}

#[tokio::test]
async fn what_the_provider_tells_besides_is_ignored() {
    let lab = Lab::new().await;
    let unknown = json!({ "type": "payment.failed", "timestamp": "2026-11-24T10:20:00Z", "data": {} });
    assert_eq!(callback(&lab, &unknown).await.expect(200).body, json!({ "outcome": "ignored" }));
}

/// Leaves an order unpaid until it has expired.
async fn leave(lab: &Lab, reservation: &Reservation) {
    lab.expire(&[reservation], LONG_S).await;
    assert_eq!(lab.order_of(reservation).await.state, OrderState::Expired);
}

async fn deliver_expiries(lab: &Lab) {
    let waiting = lab.receive("expiry").await;
    let expired = expiry::handle(&lab.expiry_in(LONG_S), events::received(&waiting)).await;
    assert!(expired.batch_item_failures.is_empty());
}

/// A lab whose sale refuses whoever has left one unit unpaid.
async fn with_an_unpaid_limit() -> Lab {
    let mut terms = terms(9, 1);
    terms.door.unpaid_limit = 1;
    Lab::selling(terms).await
}

async fn refused_as_unpaid(lab: &Lab) {
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(409, "unpaid_limit");
}

/// The provider's callbacks failed on our side until the order had expired.
#[tokio::test]
async fn an_order_that_was_paid_too_late_does_not_count_as_unpaid() {
    let lab = with_an_unpaid_limit().await;
    let first = lab.buy("alice").await;
    leave(&lab, &first).await;
    refused_as_unpaid(&lab).await;
    assert_eq!(pay(&lab, "pay_0", &first, 1).await, "refund_due", "the wrong amount");
    deliver_expiries(&lab).await;
    refused_as_unpaid(&lab).await;
    for _ in 0..2 {
        assert_eq!(pay(&lab, "pay_1", &first, 990).await, "refund_due");
        deliver_expiries(&lab).await;
    }
    let second = lab.buy("alice").await;
    leave(&lab, &second).await;
    refused_as_unpaid(&lab).await;
    // One payment takes back the count of its own order, once.
    assert_eq!(pay(&lab, "pay_1", &first, 990).await, "refund_due");
    deliver_expiries(&lab).await;
    refused_as_unpaid(&lab).await;
    assert_eq!(lab.clean_audit().await, (9, 0, 0));
}

/// The message of the first callback is not handled.
#[tokio::test]
async fn a_repeated_callback_takes_back_a_count_that_is_still_there() {
    let lab = with_an_unpaid_limit().await;
    let first = lab.buy("alice").await;
    leave(&lab, &first).await;
    assert_eq!(pay(&lab, "pay_1", &first, 990).await, "refund_due");
    assert_eq!(lab.receive("expiry").await.len(), 1);
    refused_as_unpaid(&lab).await;
    assert_eq!(pay(&lab, "pay_1", &first, 990).await, "refund_due");
    deliver_expiries(&lab).await;
    lab.buy("alice").await;
}

/// The order has expired in the ledger, but Redis does not know it yet when the payment comes.
#[tokio::test]
async fn a_late_payment_may_come_before_the_unit_is_back() {
    let lab = with_an_unpaid_limit().await;
    let alice = lab.buy("alice").await;
    let order = lab.order_of(&alice).await;
    let expired = lab.ledger.end_unpaid(&order, Transition::Expire, order.pay_by_ms.unwrap()).await.unwrap();
    assert_eq!(expired.map(|order| order.state), Some(OrderState::Expired));
    assert_eq!(pay(&lab, "pay_1", &alice, 990).await, "refund_due");
    deliver_expiries(&lab).await;
    leave(&lab, &alice).await;
    // As a function does that read the order before the payment came.
    lab.stock.round(&alice.id.round).release(&alice, None, true).await.unwrap();
    lab.buy("alice").await;
    assert_eq!(lab.clean_audit().await, (8, 0, 1));
}
