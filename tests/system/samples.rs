//! The sample events work with the functions that they are named after.

use crate::events::{request, sqs};
use crate::prelude::*;

async fn reservation(lab: &Lab, name: &str) -> Answer {
    let request = request(&sample(&format!("reservation/{name}")));
    Answer::of_handler(&request, reservation::handle(&lab.reservation(), request.clone()).await)
}

async fn admin(lab: &Lab, name: &str) -> Answer {
    let request = request(&sample(&format!("admin/{name}")));
    Answer::of_handler(&request, admin::handle(&lab.admin(), request.clone()).await)
}

fn message(event: &Value, record: usize) -> OrderMessage {
    OrderMessage::parse(event["Records"][record]["body"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn an_operators_day() {
    let lab = Lab::new().await;
    let created = admin(&lab, "create").await.expect(201).body;
    assert_eq!((&created["sale_id"], &created["state"]), (&json!("lamp"), &json!("draft")));
    assert_eq!(admin(&lab, "edit").await.expect(200).text("title"), "A better lamp");
    assert_eq!(admin(&lab, "duplicate").await.expect(201).text("sale_id"), "lantern");
    assert_eq!(admin(&lab, "drafts").await.expect(200).body["sales"].as_array().unwrap().len(), 2);
    assert_eq!(admin(&lab, "delete").await.status, 204);
    admin(&lab, "withdraw").await.problem(404, "unknown_sale");
    let published = admin(&lab, "publish").await.expect(200).body;
    let mut seen = admin(&lab, "sale").await.expect(200).body;
    assert_eq!(seen.as_object_mut().unwrap().remove("log").unwrap().as_array().unwrap().len(), 3);
    assert_eq!(seen, published);
    assert_eq!(admin(&lab, "sales").await.expect(200).body["sales"], json!([published]));
    assert_eq!(admin(&lab, "audit").await.expect(200).body["in_redis"], false);
    admin(&lab, "beacon").await.problem(409, "not_amendable");
    assert_eq!(admin(&lab, "live").await.expect(200).body["units"], Value::Null);
    admin(&lab, "resend_winners").await.problem(404, "unknown_sale");
    assert_eq!(admin(&lab, "throttle").await.expect(200).body["throttle_requests_per_s"], 20);
    assert_eq!(admin(&lab, "pause").await.expect(200).body["paused"], true);
    assert_eq!(admin(&lab, "resume").await.expect(200).body["paused"], false);
    let total = published["total"].as_u64().unwrap();
    assert_eq!(admin(&lab, "restock").await.expect(200).body["total"], total + 50);
    assert_eq!(admin(&lab, "rain").await.expect(200).body["rain"]["at_once"], 5);
    assert_eq!(admin(&lab, "end_recurrence").await.expect(200).body["recurrence"], Value::Null);
    assert_eq!(admin(&lab, "stop").await.expect(200).body["stopped_sales"], json!(["lamp"]));
    assert_eq!(admin(&lab, "kill_switches").await.expect(200).body["stopped_sales"], json!(["lamp"]));
    assert_eq!(admin(&lab, "start").await.expect(200).body["stopped_sales"], json!([]));
    assert_eq!(admin(&lab, "block").await.expect(200).text("user"), "mallory");
    assert_eq!(admin(&lab, "blocked").await.expect(200).body["blocked"][0]["user"], "mallory");
    assert_eq!(admin(&lab, "allow").await.expect(200).body["blocked"], json!([]));
    assert_eq!(admin(&lab, "group_add").await.expect(200).body, json!({ "group": "members", "users": 2 }));
    assert_eq!(admin(&lab, "group_remove").await.expect(200).body["users"], 1);
    assert_eq!(admin(&lab, "group").await.expect(200).body["users"], json!(["alice"]));
    assert_eq!(admin(&lab, "orders").await.expect(200).body, json!({ "orders": [] }));
    assert_eq!(admin(&lab, "refunds").await.expect(200).body, json!({ "refunds": [] }));
    let export = admin(&lab, "export").await;
    assert_eq!((export.status, export.header("export-rows")), (200, "0"));
    assert_eq!(admin(&lab, "report").await.expect(200).body["revenue_minor"], 0);
    admin(&lab, "order").await.problem(404, "unknown_reservation");
    admin(&lab, "refunded").await.problem(404, "unknown_refund");
}

#[tokio::test]
async fn a_buyers_minute() {
    let lab = Lab::selling(terms(100, 1)).await;
    // Its pass was issued when the sample was taken.
    let event = sample("reservation/reserve");
    let taken = event["requestContext"]["timeEpoch"].as_i64().unwrap();
    let clock = Clock::ahead_by_ms(taken - Clock::system().now().0);
    let (deps, request) = (reservation::ReservationDeps { clock, ..lab.reservation() }, request(&event));
    let asked = Asked::from(&request);
    let reserved = Answer::of_handler(asked, reservation::handle(&deps, request).await);
    let id = reserved.expect(202).text("reservation_id").to_owned();
    let queued = reservation(&lab, "poll").await.expect(200);
    assert_eq!((queued.text("reservation_id"), queued.text("status")), (&*id, "queued"));
    assert_eq!(reservation(&lab, "of_sale").await.expect(200).body["reservations"], json!([queued.body]));
    assert_eq!(reservation(&lab, "cancel").await.expect(200).text("status"), "cancelled");
    let orders = reservation(&lab, "orders").await.expect(200).body;
    assert_eq!(orders["orders"][0]["reservation_id"], id);
}

#[tokio::test]
async fn an_order_from_its_message_to_its_end() {
    let lab = Lab::selling(terms(100, 1)).await;
    let one = sample("order/one");
    assert!(order::handle(&lab.order(), sqs(&one)).await.batch_item_failures.is_empty());
    let alice = message(&one, 0);
    assert_eq!(alice.to_body(), OrderMessage::parse(&sample("messages/order").to_string()).unwrap().to_body());
    assert_eq!(lab.order_of(&alice.claim).await.state, OrderState::Pending);
    assert_eq!(message(&sample("dead_letter/one"), 0).claim.user.as_str(), "carol", "a dead letter is such a message");

    let callback = sample("payment/callback");
    let body = callback["body"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), sample("messages/payment"));
    let old = payment::handle(&lab.payment(), request(&callback)).await;
    Answer::of_handler(&request(&callback), old).problem(401, "unauthorized");
    let signed = lab.answer(&Ask::callback(body, &lab.payment_key)).await.expect(200);
    assert_eq!(signed.text("outcome"), "applied");

    let due = sample("expiry/due");
    let expiring = ExpiryMessage::parse(due["Records"][0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(expiring.id, alice.claim.id);
    assert!(expiry::handle(&lab.expiry_in(3600), sqs(&due)).await.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice.claim).await.state, OrderState::Paid);
}
