//! Dead letters are sent back.

use tests::{Conduct, Service};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::lab::Lab;
use crate::parts::Parts;
use crate::resources::{depth, receive, receive_batches};

/// More than SQS returns at once, and no multiple of that.
const MESSAGES: usize = 23;

fn redrive(queue: &str) -> Ask {
    Ask::post(format!("/v1/admin/redrive/{queue}")).by_operator()
}

async fn fill(lab: &Lab, url: &str, what: &str) -> Vec<String> {
    let mut bodies: Vec<String> = (0..MESSAGES).map(|number| format!("{what} {number}")).collect();
    for body in &bodies {
        lab.sqs.send_message().queue_url(url).message_body(body).send().await.unwrap();
    }
    bodies.sort();
    bodies
}

async fn bodies(lab: &Lab, url: &str) -> Vec<String> {
    let batches = receive_batches(&lab.sqs, url).await;
    let mut bodies: Vec<_> = batches.into_iter().flatten().map(|message| message.body.unwrap()).collect();
    bodies.sort();
    bodies
}

#[tokio::test]
async fn every_message_goes_back_to_where_it_came_from() {
    let lab = Lab::new().await;
    let orders = fill(&lab, &lab.orders_dlq_url, "order").await;
    let expiry = fill(&lab, &lab.expiry_dlq_url, "expiry").await;
    let winners = fill(&lab, &lab.winners_dlq_url, "winner").await;
    let webhook = fill(&lab, &lab.webhook_dlq_url, "event").await;
    let quarantine = fill(&lab, &lab.quarantine_url, "unreadable").await;

    for (queue, from, to, expected) in [
        ("orders", &lab.orders_dlq_url, &lab.orders_url, &orders),
        ("expiry", &lab.expiry_dlq_url, &lab.expiry_url, &expiry),
        ("winners", &lab.winners_dlq_url, &lab.winners_url, &winners),
        ("webhook", &lab.webhook_dlq_url, &lab.webhook_url, &webhook),
        ("quarantine", &lab.quarantine_url, &lab.orders_url, &quarantine),
    ] {
        let untouched = lab.contents().await.depths.iter().flatten().sum::<u32>();
        let answer = lab.answer(&redrive(queue)).await.expect(200);
        assert_eq!(answer.body, serde_json::json!({ "moved": MESSAGES, "may_be_more": false }), "{queue}");
        assert_eq!(lab.contents().await.depths.iter().flatten().sum::<u32>(), untouched, "{queue}");
        assert_eq!(depth(&lab.sqs, from).await, [0, 0, 0], "{queue}");
        assert_eq!(&bodies(&lab, to).await, expected, "{queue}");
        assert_eq!(lab.answer(&redrive(queue)).await.expect(200).body["moved"], 0, "{queue}: nothing is left");
    }
}

#[tokio::test]
async fn an_empty_answer_of_some_servers_is_not_the_end() {
    let lab = Lab::new().await;
    let expected = fill(&lab, &lab.expiry_dlq_url, "expiry").await;
    let parts = Parts::of(&lab).await;
    parts.aws.set(Service::Sqs, Conduct::MissesShortPolls);
    let ask = redrive("expiry");
    let answer = Answer::of_handler(&ask, admin::handle(&parts.start(admin::AdminDeps::new), ask.request()).await);
    assert_eq!(answer.expect(200).body, serde_json::json!({ "moved": MESSAGES, "may_be_more": false }));
    assert_eq!(bodies(&lab, &lab.expiry_url).await, expected);
}

#[tokio::test]
async fn messages_that_somebody_else_holds_may_be_left() {
    let lab = Lab::new().await;
    fill(&lab, &lab.expiry_dlq_url, "expiry").await;
    let held = receive(&lab.sqs, &lab.expiry_dlq_url).await.len();
    let answer = lab.answer(&redrive("expiry")).await.expect(200);
    assert_eq!(answer.body, serde_json::json!({ "moved": MESSAGES - held, "may_be_more": true }));
}

#[tokio::test]
async fn a_queue_that_does_not_take_them_loses_none() {
    let lab = Lab::new().await;
    fill(&lab, &lab.expiry_dlq_url, "expiry").await;
    lab.sqs.delete_queue().queue_url(&lab.expiry_url).send().await.unwrap();
    lab.answer(&redrive("expiry")).await.problem(503, "overloaded");
    assert_eq!(depth(&lab.sqs, &lab.expiry_dlq_url).await.iter().sum::<u32>(), MESSAGES as u32);
}
