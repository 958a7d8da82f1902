//! Dead letters are sent back.

use crate::prelude::*;

/// More than SQS returns at once, and no multiple of that.
const MESSAGES: usize = 23;
/// All queues are emptied in the same way, so most need no second batch.
const FEW: usize = 3;

fn redrive(queue: &str) -> Ask {
    Ask::post(format!("/v1/admin/redrive/{queue}")).by_operator()
}

fn expected(what: &str, messages: usize) -> Vec<String> {
    let mut bodies: Vec<String> = (0..messages).map(|number| format!("{what} {number}")).collect();
    bodies.sort();
    bodies
}

async fn fill(lab: &Lab, queue: &str, what: &str, messages: usize) {
    for body in expected(what, messages) {
        lab.send(queue, body).await;
    }
}

async fn bodies(lab: &Lab, queue: &str) -> Vec<String> {
    let batches = receive_batches(&lab.sqs, lab.queue(queue)).await;
    let mut bodies: Vec<_> = batches.into_iter().flatten().map(|message| message.body.unwrap()).collect();
    bodies.sort();
    bodies
}

#[tokio::test]
async fn every_message_goes_back_to_where_it_came_from() {
    let lab = Lab::new().await;
    let queues = [
        ("orders", "orders_dlq", "orders"),
        ("expiry", "expiry_dlq", "expiry"),
        ("winners", "winners_dlq", "winners"),
        ("webhook", "webhook_dlq", "webhook"),
        ("quarantine", "quarantine", "orders"),
    ];
    for (queue, from, _) in queues {
        fill(&lab, from, queue, FEW).await;
    }
    for (queue, from, to) in queues {
        let untouched = lab.contents().await.depths.values().flatten().sum::<u32>();
        let answer = lab.answer(&redrive(queue)).await.expect(200);
        assert_eq!(answer.body, json!({ "moved": FEW, "may_be_more": false }), "{queue}");
        assert_eq!(lab.contents().await.depths.values().flatten().sum::<u32>(), untouched, "{queue}");
        assert_eq!(lab.depth(from).await, [0, 0, 0], "{queue}");
        assert_eq!(bodies(&lab, to).await, expected(queue, FEW));
        assert_eq!(lab.answer(&redrive(queue)).await.expect(200).body["moved"], 0, "{queue}: nothing is left");
    }
}

#[tokio::test]
async fn an_empty_answer_of_some_servers_is_not_the_end() {
    let lab = Lab::new().await;
    fill(&lab, "expiry_dlq", "expiry", MESSAGES).await;
    let parts = Parts::of(&lab).await;
    parts.aws.set(Service::Sqs, Conduct::MissesShortPolls);
    let answer = parts.start(admin::AdminDeps::new).answer(&redrive("expiry")).await;
    assert_eq!(answer.expect(200).body, json!({ "moved": MESSAGES, "may_be_more": false }));
    assert_eq!(bodies(&lab, "expiry").await, expected("expiry", MESSAGES));
}

#[tokio::test]
async fn messages_that_somebody_else_holds_may_be_left() {
    let lab = Lab::new().await;
    fill(&lab, "expiry_dlq", "expiry", MESSAGES).await;
    let held = lab.receive("expiry_dlq").await.len();
    let answer = lab.answer(&redrive("expiry")).await.expect(200);
    assert_eq!(answer.body, json!({ "moved": MESSAGES - held, "may_be_more": true }));
}

#[tokio::test]
async fn a_queue_that_does_not_take_them_loses_none() {
    let lab = Lab::new().await;
    fill(&lab, "expiry_dlq", "expiry", MESSAGES).await;
    lab.delete_queue("expiry").await;
    lab.answer(&redrive("expiry")).await.problem(503, "overloaded");
    assert_eq!(lab.depth("expiry_dlq").await.iter().sum::<u32>(), MESSAGES as u32);
}
