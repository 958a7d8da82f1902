//! Which messages queue functions report as failed, and when they come back.

use ledger::LedgerError;
use messaging::queue;

use crate::prelude::*;

pub(crate) const PUT_OFF: &str = "AmazonSQS.ChangeMessageVisibility";

fn failed(response: &SqsBatchResponse) -> Vec<&str> {
    response.batch_item_failures.iter().map(|failure| &*failure.item_identifier).collect()
}

/// The visibility timeouts, in seconds, that were set since the last call.
pub(crate) fn put_offs(lab: &Lab) -> Vec<i64> {
    let calls = lab.calls.take().into_iter().filter(|call| call.target == PUT_OFF);
    calls.map(|call| call.body["VisibilityTimeout"].as_i64().unwrap()).collect()
}

/// Asserts that the one message in a queue, which was put off by `delay_s` after `began`, is hidden. On a machine that
/// stood still for as long, it has come back by itself.
pub(crate) async fn is_hidden(lab: &Lab, queue: &str, began: Instant, delay_s: u32) {
    let found = lab.depth(queue).await;
    if began.elapsed() < Duration::from_secs(delay_s.into()) {
        assert_eq!(found, [0, 1, 0], "it is hidden");
    }
}

/// Asked again without a pause, and for ever, a busy partition would stay busy.
#[tokio::test]
async fn keys_that_dynamodb_leaves_are_asked_for_again_a_few_times() {
    let parts = Parts::of(&Lab::new().await).await;
    parts.aws.set(Service::DynamoDb, Conduct::LeavesBatches);
    let ids = [(); 2].map(|()| fresh_id(&round("lamp", 1)));
    let read = parts.ledger.orders(&ids).await;
    assert!(matches!(read, Err(LedgerError::Contended(_))), "{read:?}");
    assert_eq!(parts.aws.answered("DynamoDB_20120810.BatchGetItem"), 7);
}

#[tokio::test]
async fn a_poison_message_takes_no_other_with_it() {
    let lab = Lab::selling(terms(100, 1)).await;
    let sample = events::sample("order/with_poison");
    let response = order::handle(&lab.order(), events::sqs(&sample)).await;
    assert_eq!(failed(&response), [sample["Records"][1]["messageId"].as_str().unwrap()]);
    for record in [0, 2] {
        let message = queue::OrderMessage::parse(sample["Records"][record]["body"].as_str().unwrap()).unwrap();
        assert_eq!(lab.order_of(&message.reservation).await.state, OrderState::Pending);
    }
    let put_off: Vec<_> = lab.calls.take().into_iter().filter(|call| call.target == PUT_OFF).collect();
    assert_eq!(put_off.len(), 1, "only the poison is put off");
    assert_eq!(put_off[0].body["ReceiptHandle"], sample["Records"][1]["receiptHandle"]);
}

/// Messages of an unpublished sale fail, but are not poison.
#[tokio::test]
async fn an_order_of_a_draft_waits() {
    let lab = Lab::selling(terms(3, 1)).await;
    let mut alice = lab.reserve("alice").await;
    alice.id.round.sale = "draft".parse().unwrap();
    rounds::draft(&lab.ledger, "draft", &terms(3, 1), None).await;
    assert_eq!(lab.deliver(&[&alice]).await.batch_item_failures.len(), 1);
    rounds::publish(&lab.ledger, "draft").await;
    assert_eq!(lab.deliver(&[&alice]).await.batch_item_failures.len(), 0);
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Pending);
}

#[tokio::test]
async fn a_failed_message_comes_back_after_5_then_10_then_30_seconds() {
    let lab = Lab::new().await;
    lab.send("orders", "not an order").await;
    let first = lab.receive("orders").await;
    let began = Instant::now();
    assert_eq!(order::handle(&lab.order(), events::received(&first)).await.batch_item_failures.len(), 1);
    let mut delays = put_offs(&lab);
    is_hidden(&lab, "orders", began, order::RETRY_DELAYS_S[0]).await;
    let second = lab.receive_again("orders", &first[0]).await;
    assert_eq!(second[0].message_id(), first[0].message_id());

    // Later delays are set in the same way.
    let mut event = serde_json::to_value(events::received(&second)).unwrap();
    for count in 2..=5 {
        event["Records"][0]["attributes"]["ApproximateReceiveCount"] = json!(count.to_string());
        assert_eq!(order::handle(&lab.order(), events::sqs(&event)).await.batch_item_failures.len(), 1);
        delays.extend(put_offs(&lab));
    }
    assert_eq!(delays, [5, 10, 30, 0, 0], "after the last delay it becomes a dead letter at once");

    // One that cannot be put off is reported all the same.
    event["Records"][0]["receiptHandle"] = json!("of no message");
    assert_eq!(order::handle(&lab.order(), events::sqs(&event)).await.batch_item_failures.len(), 1);
    assert!(lab.calls.take_targets().iter().any(|target| target == PUT_OFF));
}

#[tokio::test]
async fn a_table_that_is_away_fails_the_message_and_not_the_order() {
    let lab = Lab::selling(terms(2, 1)).await;
    let alice = lab.reserve("alice").await;
    let mut deps = lab.order();
    deps.fulfilment.ledger = Ledger::new(lab.dynamodb.clone(), "no-such-table");
    assert!(matches!(deps.fulfilment.ledger.order(&alice.id).await, Err(LedgerError::DynamoDb { .. })));
    let batch = || message_batch([&alice]);
    assert_eq!(order::handle(&deps, batch()).await.batch_item_failures.len(), 1);
    let last = dead_letter::DeadLetterDeps { fulfilment: deps.fulfilment.clone(), ..lab.dead_letter() };
    assert_eq!(dead_letter::handle(&last, batch()).await.batch_item_failures.len(), 1);
    assert_eq!(lab.clean_audit().await, (1, 1, 0));
    assert!(order::handle(&lab.order(), batch()).await.batch_item_failures.is_empty());
    assert_eq!(lab.clean_audit().await, (1, 0, 1));
}
