//! Ten minutes without a part. Messages come back as often as they would, without the wait.

use aws_sdk_sqs::types::QueueAttributeName as Attribute;
use futures::future::join_all;
use futures::{StreamExt, stream};
use history::Redis;
use sale::{Claim, OrderState, ReservationId};
use serde_json::json;
use tests::{Conduct, Service, terms};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::events;
use crate::heal::heal;
use crate::lab::{Lab, SALE};
use crate::parts::Parts;
use crate::recording::ask_reservation;
use crate::resources::{depth, receive_batches};
use crate::wait::until;

const BUYERS: usize = 200;
const AT_ONCE: usize = 10;
/// As in `infra/cdk/lib/queues.ts`.
const TRIES: u32 = 4;
/// A dead letter comes back when its queue's visibility timeout ends, six times the function's 30 s. Ten minutes
/// contain four of these; one more does no harm.
const DEAD_TRIES: usize = 5;

/// Configures the queues as deployed, except that messages come back at once.
async fn without_waiting(lab: &Lab) {
    let wanted = lab.sqs.get_queue_attributes().queue_url(&lab.orders_dlq_url).attribute_names(Attribute::QueueArn);
    let arn = wanted.send().await.unwrap().attributes.unwrap()[&Attribute::QueueArn].clone();
    let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": TRIES }).to_string();
    let orders = lab.sqs.set_queue_attributes().queue_url(&lab.orders_url);
    orders.attributes(Attribute::RedrivePolicy, policy).send().await.unwrap();
}

/// Shows a received message again if it was not deleted, as the end of its visibility timeout does.
async fn show_again(lab: &Lab, url: &str, receipt: &str) {
    let shown = lab.sqs.change_message_visibility().queue_url(url).receipt_handle(receipt).visibility_timeout(0);
    shown.send().await.unwrap();
}

/// Delivers everything that a queue shows to a function, once, in batches as Lambda does, and shows failed messages
/// again. Returns how many messages succeeded and how many failed.
async fn deliver<F>(lab: &Lab, url: &str, handle: impl Fn(aws_lambda_events::sqs::SqsEvent) -> F) -> (usize, usize)
where
    F: Future<Output = aws_lambda_events::sqs::SqsBatchResponse>,
{
    let batches = receive_batches(&lab.sqs, url).await;
    let handled = stream::iter(batches).map(async |messages| {
        let response = handle(events::received(&messages)).await;
        let failed: Vec<_> = response.batch_item_failures.iter().map(|failure| &*failure.item_identifier).collect();
        let mut done = 0;
        for message in &messages {
            let receipt = message.receipt_handle().unwrap();
            if failed.contains(&message.message_id().unwrap()) {
                show_again(lab, url, receipt).await;
            } else {
                lab.sqs.delete_message().queue_url(url).receipt_handle(receipt).send().await.unwrap();
                done += 1;
            }
        }
        (done, failed.len())
    });
    handled.buffer_unordered(AT_ONCE).fold((0, 0), async |sum, one| (sum.0 + one.0, sum.1 + one.1)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_dynamodb_fail_no_reservation() {
    let lab = Lab::selling(terms(BUYERS as u32, 1)).await;
    without_waiting(&lab).await;
    let names: Vec<String> = (0..BUYERS).map(|buyer| format!("user-{buyer}")).collect();
    let promised: Vec<Claim> =
        stream::iter(&names).map(|name| lab.reserve(name)).buffer_unordered(AT_ONCE).collect().await;
    let parts = Parts::of(&lab).await;
    parts.aws.set(Service::DynamoDb, Conduct::Fails);

    let (order, dead_letter) = (parts.start(order::Deps::new), parts.start(dead_letter::Deps::new));
    for _ in 0..TRIES {
        let tried = deliver(&lab, &lab.orders_url, |batch| order::handle(&order, batch)).await;
        assert_eq!(tried, (0, BUYERS));
    }
    until("the next receives move them", async || {
        assert_eq!(deliver(&lab, &lab.orders_url, |batch| order::handle(&order, batch)).await, (0, 0));
        (depth(&lab.sqs, &lab.orders_dlq_url).await[0] == BUYERS as u32).then_some(())
    })
    .await;
    for _ in 0..DEAD_TRIES {
        let tried = deliver(&lab, &lab.orders_dlq_url, |batch| dead_letter::handle(&dead_letter, batch)).await;
        assert_eq!(tried, (0, BUYERS));
    }
    assert_eq!(lab.clean_audit().await, (0, BUYERS as u32, 0), "all of them keep their units");

    parts.aws.set(Service::DynamoDb, Conduct::Answers);
    until("every message is done", async || {
        deliver(&lab, &lab.orders_dlq_url, |batch| dead_letter::handle(&dead_letter, batch)).await;
        (depth(&lab.sqs, &lab.orders_dlq_url).await == [0, 0, 0]).then_some(())
    })
    .await;
    let states = join_all(promised.iter().map(async |claim| lab.order_of(claim).await.state)).await;
    let orders = states.iter().filter(|state| **state == OrderState::Pending).count();
    assert_eq!(orders, BUYERS, "{states:?}");
    assert_eq!(lab.clean_audit().await, (0, 0, BUYERS as u32));
    lab.check_history("without_dynamodb", &[SALE], Redis::Keeps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_sqs_lose_no_reservation_that_was_named() {
    let lab = Lab::selling(terms(BUYERS as u32, 1)).await;
    let parts = Parts::of(&lab).await;
    parts.aws.set(Service::Sqs, Conduct::Fails);
    let deps = parts.start(reservation::Deps::new);
    let refused: Vec<Answer> = stream::iter(0..BUYERS)
        .map(async |buyer| {
            let ask = Ask::reserve(SALE, &format!("user-{buyer}"));
            // Each request comes from a different address.
            let deps = reservation::Deps { counts: std::sync::Arc::default(), ..deps.clone() };
            ask_reservation(&lab.recorder, &deps, &ask).await.problem(503, "overloaded")
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let named = refused.iter().filter_map(|answer| answer.body["reservation_id"].as_str());
    let named: Vec<ReservationId> = named.map(|id| id.parse().unwrap()).collect();
    assert!(!named.is_empty());
    println!("{} of {BUYERS} heard an id", named.len());
    // Ten runs, none of which can send anything.
    let reconciliation = parts.reconciliation();
    for _ in 0..10 {
        let summary = reconciliation::handle(&reconciliation).await.unwrap();
        assert_eq!(summary.sent, 0, "{summary:?}");
        assert_ne!(summary.failed, 0, "the summary counts it: {summary:?}");
    }
    assert_eq!(depth(&lab.sqs, &lab.orders_url).await, [0, 0, 0]);

    parts.aws.set(Service::Sqs, Conduct::Answers);
    heal(&lab).await;
    let audit = lab.audit().await;
    assert!(audit.is_clean() && audit.held == 0, "{audit:?}");
    let orders = lab.ledger.orders(&named).await.unwrap();
    assert_eq!(orders.len(), named.len(), "each has an order");
    assert!(orders.iter().all(|order| order.state == OrderState::Pending), "{orders:?}");
    lab.check_history("without_sqs", &[SALE], Redis::Keeps).await;
}
