//! The sample events work with the functions that they are named after.

use std::time::Duration;

use queue::{ExpiryMessage, OrderMessage};
use runtime::Clock;
use sale::OrderState;
use serde_json::{Value, json};
use tests::terms;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::asked::Asked;
use crate::cloud::cloud;
use crate::events::{request, sample, sqs};
use crate::lab::Lab;
use crate::resources::depth;
use crate::wait::until;

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
    assert_eq!(admin(&lab, "isolate").await.expect(200).body["isolated_requests_per_s"], 20);
    assert_eq!(admin(&lab, "pause").await.expect(200).body["paused"], true);
    assert_eq!(admin(&lab, "resume").await.expect(200).body["paused"], false);
    let total = published["total"].as_u64().unwrap();
    assert_eq!(admin(&lab, "restock").await.expect(200).body["total"], total + 50);
    assert_eq!(admin(&lab, "rain").await.expect(200).body["rain"]["at_once"], 5);
    assert_eq!(admin(&lab, "end_recurrence").await.expect(200).body["recurrence"], Value::Null);
    assert_eq!(admin(&lab, "stop").await.expect(200).body["stopped_sales"], json!(["lamp"]));
    assert_eq!(admin(&lab, "switches").await.expect(200).body["stopped_sales"], json!(["lamp"]));
    assert_eq!(admin(&lab, "start").await.expect(200).body["stopped_sales"], json!([]));
    assert_eq!(admin(&lab, "deny").await.expect(200).text("user"), "mallory");
    assert_eq!(admin(&lab, "denied").await.expect(200).body["denied"][0]["user"], "mallory");
    assert_eq!(admin(&lab, "allow").await.expect(200).body["denied"], json!([]));
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
    let (deps, request) = (reservation::Deps { clock, ..lab.reservation() }, request(&event));
    let asked = Asked::from(&request);
    let reserved = Answer::of_handler(asked, reservation::handle(&deps, request).await);
    let id = reserved.expect(202).text("reservation_id").to_owned();
    let queued = reservation(&lab, "look").await.expect(200);
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

#[tokio::test]
async fn dead_letters() {
    let lab = Lab::selling(terms(100, 1)).await;
    for name in ["one", "poison"] {
        let event = sample(&format!("dead_letter/{name}"));
        assert!(dead_letter::handle(&lab.dead_letter(), sqs(&event)).await.batch_item_failures.is_empty(), "{name}");
    }
    let carol = message(&sample("dead_letter/one"), 0);
    assert_eq!(lab.order_of(&carol.claim).await.state, OrderState::Pending);
    assert_eq!(depth(&lab.sqs, &lab.quarantine_url).await, [1, 0, 0]);
}

/// Gives an event to a deployed function, as `cargo lambda invoke` does.
async fn invoke(function: &str, event: &Value) -> Value {
    let endpoint = &cloud().await.deployment.endpoint;
    let url = format!("{endpoint}/2015-03-31/functions/flash-sale-{function}/invocations");
    let client = reqwest::Client::builder().timeout(Duration::from_secs(120)).build().unwrap();
    let response = client.post(url).body(event.to_string()).send().await.unwrap();
    let failed = response.headers().contains_key("x-amz-function-error");
    let answer: Value = response.json().await.unwrap();
    assert!(!failed, "{function}: {answer}");
    answer
}

/// Their sales are not published there, so each function reports that it understood and has nothing to do.
#[tokio::test]
async fn the_deployed_functions_understand_them() {
    for (function, name, status) in [
        ("reservation", "reserve", 403),
        ("reservation", "look", 404),
        ("reservation", "cancel", 404),
        ("reservation", "orders", 200),
        ("admin", "publish", 404),
        ("admin", "sale", 404),
        ("admin", "sales", 200),
        ("admin", "audit", 404),
        ("admin", "beacon", 404),
        ("admin", "live", 404),
        ("payment", "callback", 401),
    ] {
        let answer = invoke(function, &sample(&format!("{function}/{name}"))).await;
        assert_eq!(answer["statusCode"], status, "{function}/{name}: {answer}");
    }
    let one = invoke("order", &sample("order/one")).await;
    assert_eq!(one["batchItemFailures"].as_array().unwrap().len(), 1, "no such sale: {one}");
    let due = invoke("expiry", &sample("expiry/due")).await;
    assert_eq!(due["batchItemFailures"].as_array().unwrap().len(), 1, "no such order: {due}");
    let winner = invoke("winners", &sample("winners/one")).await;
    assert_eq!(winner["batchItemFailures"].as_array().unwrap().len(), 1, "no such winner: {winner}");
    let event = invoke("webhook", &sample("webhook/one")).await;
    assert_eq!(event["batchItemFailures"].as_array().unwrap().len(), 1, "no address: {event}");
    for name in ["placed", "paid", "refund", "round", "with_poison"] {
        let emitted = invoke("emitter", &sample(&format!("emitter/{name}"))).await;
        assert_eq!(emitted["batchItemFailures"], json!([]), "{name}");
    }
    for schedule in ["warmup", "reconciliation", "daily_reset", "draw"] {
        // On a busy machine, a run leaves what comes too late to the next one.
        until(&format!("{schedule} leaves nothing undone"), async || {
            (invoke(schedule, &sample(&format!("{schedule}/tick"))).await["failed"] == 0).then_some(())
        })
        .await;
    }
}
