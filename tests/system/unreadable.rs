//! What is kept and cannot be right. Asking again does not help, so nobody is told to.

use crate::prelude::*;

fn is_an_error_for_good(answer: Answer) {
    let answer = answer.problem(500, "internal");
    assert!(!answer.headers.contains_key("retry-after"), "{answer:?}");
}

#[tokio::test]
async fn an_order_that_cannot_be_read() {
    let lab = Lab::selling(terms(3, 1)).await;
    let bought = lab.buy("alice").await;
    lab.answer(&Ask::status(&bought)).await.expect(200);
    lab.set_attribute(&format!("ORDER#{}", bought.id), "state", AttributeValue::S("LOST".to_owned())).await;
    is_an_error_for_good(lab.answer(&Ask::status(&bought)).await);
}

#[tokio::test]
async fn a_record_of_a_buyer_that_cannot_be_read() {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.reserve("alice").await;
    let buyers = format!("buyers:{{{SALE}:1:0}}");
    let record = lab.redis_text(&["HGET", &buyers, "alice"]).await;
    lab.redis(&["DEL", &buyers]).await;
    lab.redis(&["HSET", &buyers, "alice", &format!("{record}x")]).await;
    is_an_error_for_good(lab.answer(&Ask::reserve(SALE, "alice").header("idempotency-key", "another")).await);
}
