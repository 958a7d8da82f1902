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
    let look = Ask::get(format!("/v1/reservations/{}", bought.id)).by("alice");
    lab.answer(&look).await.expect(200);
    let update = lab.dynamodb.update_item().table_name(&lab.table).update_expression("SET #state = :lost");
    let update = update.key("pk", AttributeValue::S(format!("ORDER#{}", bought.id)));
    let update = update.expression_attribute_names("#state", "state");
    update.expression_attribute_values(":lost", AttributeValue::S("LOST".to_owned())).send().await.unwrap();
    is_an_error_for_good(lab.answer(&look).await);
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
