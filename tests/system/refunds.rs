//! Payments to give back are listed until an operator marks them, once.

use crate::prelude::*;

/// An order that was given back before this payment came.
async fn with_refund_due(lab: &Lab, payment: &str) -> Reservation {
    let reservation = lab.buy("alice").await;
    lab.answer(&Ask::cancel(&reservation)).await.expect(200);
    assert_eq!(lab.pay(payment, &reservation).await, "refund_due");
    reservation
}

async fn due(lab: &Lab) -> Vec<String> {
    let pages = lab.pages(Ask::get("/v1/admin/refunds?limit=3").by_operator()).await;
    texts(&listed(&pages, "refunds"), "payment_id")
}

async fn mark(lab: &Lab, payment: &str, by: &str) -> Answer {
    let ask = Ask::post("/v1/admin/refunds/refunded").json(&json!({ "payment_id": payment }));
    lab.answer(&Ask { who: Who::Operator(by.to_owned()), ..ask }).await
}

#[tokio::test]
async fn what_could_not_be_taken_is_listed_until_it_is_marked() {
    let lab = Lab::selling(terms(20, 1)).await;
    let mut expected = Vec::new();
    for n in 0..8 {
        let reservation = lab.buy(&format!("user-{n}")).await;
        // Providers choose their ids.
        let payment = format!("pay/{n}?#.%");
        if n == 0 {
            assert_eq!(lab.pay("pay_taken", &reservation).await, "applied");
        } else {
            lab.answer(&Ask::cancel(&reservation)).await.expect(200);
        }
        assert_eq!(lab.pay(&payment, &reservation).await, "refund_due");
        expected.push(payment);
    }
    assert_eq!(due(&lab).await, expected, "the longest due first");

    let marked = mark(&lab, &expected[2], "olga").await.expect(200).body;
    assert_eq!((&marked["refunded_by"], &marked["changed"]), (&json!("olga"), &json!(true)));
    assert_eq!((&marked["user"], &marked["order_state"]), (&json!("user-2"), &json!("cancelled")));
    let again = mark(&lab, &expected[2], "otto").await.expect(200).body;
    let mut same = marked.clone();
    same["changed"] = json!(false);
    assert_eq!(again, same, "it says when and by whom it was marked");
    expected.remove(2);
    assert_eq!(due(&lab).await, expected);

    for nothing in ["pay_taken", "pay_unheard"] {
        mark(&lab, nothing, "olga").await.problem(404, "unknown_refund");
    }
    for body in [json!({}), json!({ "payment_id": "" }), json!({ "payment_id": "a b" }), json!({ "payment_id": 7 })] {
        let refused = lab.operate("refunds/refunded", &body).await.problem(400, "invalid_request");
        assert!(refused.text("detail").contains("payment_id"), "{refused:?}");
    }
    for (query, name) in
        [("limit=0", "limit"), ("cursor=x", "cursor"), ("cursor=MS5h%3D", "cursor"), ("state=due", "state")]
    {
        let refused = lab.answer(&Ask::get(format!("/v1/admin/refunds?{query}")).by_operator()).await;
        assert!(refused.problem(400, "invalid_request").text("detail").starts_with(&format!("{name}: ")), "{query}");
    }
}

/// The provider may repeat a callback for days.
#[tokio::test]
async fn a_callback_that_comes_again_does_not_make_it_due_again() {
    let lab = Lab::selling(terms(3, 1)).await;
    let reservation = with_refund_due(&lab, "pay_1").await;
    let look = async || lab.answer(&Ask::status(&reservation)).await.expect(200).body;
    assert_eq!(look().await["refund_due"], true);
    let before = mark(&lab, "pay_1", "olga").await.expect(200).body;
    for _ in 0..2 {
        assert_eq!(lab.pay("pay_1", &reservation).await, "refund_due");
    }
    assert_eq!(due(&lab).await, [] as [&str; 0]);
    assert_eq!(mark(&lab, "pay_1", "otto").await.expect(200).body["refunded_at"], before["refunded_at"]);
    assert_eq!(look().await["refund_due"], Value::Null, "its user was refunded");
    assert_eq!(lab.order_of(&reservation).await.state, OrderState::Cancelled);
    // Another amount or order is still a contradiction.
    let ask = Ask::paid("pay_1", &reservation.id.to_string(), 991, &lab.payment_key);
    assert_eq!(lab.answer(&ask).await.expect(200).text("outcome"), "amount_changed");
    let bob = lab.buy("bob").await;
    assert_eq!(lab.pay("pay_1", &bob).await, "payment_reused");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_operators_who_mark_it_at_once_one_does() {
    let lab = Lab::selling(terms(3, 1)).await;
    let reservation = with_refund_due(&lab, "pay_1").await;
    let before = lab.order_of(&reservation).await;
    let operators: Vec<String> = (0..8).map(|n| format!("operator-{n}")).collect();
    let heard = join_all(operators.iter().map(|by| mark(&lab, "pay_1", by))).await;
    let heard: Vec<Value> = heard.into_iter().map(|answer| answer.expect(200).body).collect();
    let marked: Vec<&Value> = heard.iter().filter(|told| told["changed"] == true).collect();
    assert_eq!(marked.len(), 1, "{heard:?}");
    let said = |told: &Value| (told["refunded_by"].clone(), told["refunded_at"].clone());
    assert!(heard.iter().all(|told| said(told) == said(marked[0])), "{heard:?}");
    let mut after = lab.order_of(&reservation).await;
    assert_eq!(std::mem::take(&mut after.refunds_made), ["pay_1"]);
    assert_eq!(after, before, "the order is otherwise unchanged");
}

#[tokio::test]
async fn an_order_is_refunded_once_all_of_its_payments_are() {
    let lab = Lab::selling(terms(3, 1)).await;
    let reservation = with_refund_due(&lab, "pay_1").await;
    assert_eq!(lab.pay("pay_2", &reservation).await, "refund_due");
    let look = async || lab.read(format!("/v1/admin/orders/{}", reservation.id)).await["refund"].clone();
    for (payment, refund) in [("pay_2", "due"), ("pay_1", "refunded")] {
        assert_eq!(mark(&lab, payment, "olga").await.expect(200).body["changed"], true);
        assert_eq!(look().await, refund, "once {payment} is marked");
    }
}
