//! The sample events work with the functions that they are named after.

use crate::events::{request, sqs};
use crate::packets::packet;
use crate::prelude::*;
use crate::push;

/// The reservation function when a sample was taken, which its pass needs.
fn when_taken(lab: &Lab, event: &Value) -> reservation::ReservationDeps {
    let taken = event["requestContext"]["timeEpoch"].as_i64().unwrap();
    let clock = Clock::ahead_by_ms(taken - Clock::system().now().0);
    reservation::ReservationDeps { clock, ..lab.reservation() }
}

/// What its function makes of a sample in a lab that sells a lamp and gives a packet away: a status, or how many records
/// failed.
async fn outcome(lab: &Lab, name: &str) -> usize {
    let event = sample(name);
    let records = || serde_json::from_value(event.clone()).expect("the event is one of a stream");
    let (process, endpoint) = (lab.another_process(), &cloud().await.deployment.endpoint);
    match name.split('/').next().unwrap() {
        // They take no input.
        "daily_reset" => daily_reset::handle(&lab.daily_reset()).await.unwrap().failed,
        "draw" => draw::handle(&lab.draw_in(0)).await.unwrap().failed,
        "reconciliation" => reconciliation::handle(&lab.reconciliation()).await.unwrap().failed,
        "warmup" => warmup::handle(&lab.warmup()).await.unwrap().failed,
        "dead_letter" => dead_letter::handle(&lab.dead_letter(), sqs(&event)).await.batch_item_failures.len(),
        "expiry" => expiry::handle(&lab.expiry_in(0), sqs(&event)).await.batch_item_failures.len(),
        "order" => order::handle(&lab.order(), sqs(&event)).await.batch_item_failures.len(),
        "webhook" => {
            let deps = webhook::WebhookDeps::new(&process).unwrap();
            webhook::handle(&deps, sqs(&event)).await.batch_item_failures.len()
        }
        "winners" => {
            let deps = winners::WinnersDeps::new(&process).unwrap();
            winners::handle(&deps, sqs(&event)).await.batch_item_failures.len()
        }
        "emitter" => emitter::handle(&lab.emitter(), records()).await.failed().count(),
        "notifier" => notifier::handle(&push::notifier(lab, endpoint).await, records()).await.failed().count(),
        "websocket" => {
            let deps = push::websocket(lab, endpoint, cloud().await.issuer.url()).await;
            let request = serde_json::from_value(event).expect("the event is one of a WebSocket API");
            usize::from(websocket::handle(&deps, request).await.status_code)
        }
        "reservation" if event["pathParameters"]["token"].is_string() => {
            reservation::handle(&when_taken(lab, &event), request(&event)).await.status().as_u16().into()
        }
        function => lab.respond(function, request(&event)).await.status().as_u16().into(),
    }
}

fn expected(name: &str) -> usize {
    match name {
        "admin/campaign" => 201,
        // There is this sale.
        "admin/create" => 409,
        // No sale is drawn at its end or has a line.
        "catalog/entries" | "waiting_room/line" | "waiting_room/ticket" => 404,
        // It was loaded without a plan, and cannot get one. Its draw uses no beacon, and it is already on sale.
        "admin/rain" | "admin/beacon" | "admin/edit" | "admin/withdraw" => 409,
        // There is no such draft, order, payment or draw.
        "admin/delete" | "admin/order" | "admin/refunded" | "admin/resend_winners" => 404,
        "reservation/reserve" => 202,
        "admin/duplicate" | "admission/challenge" => 201,
        // What the samples have instead of secrets and short-lived values.
        "admission/token" => 409,
        "payment/callback" | "websocket/connect" => 401,
        // Buyers only listen.
        "websocket/message" => 400,
        // One record is poison; the others concern an order and a prize that do not exist yet, and an address that is
        // not configured.
        "order/with_poison" | "expiry/due" | "winners/one" | "webhook/one" => 1,
        _ if ["admin/", "catalog/", "reservation/", "websocket/"].iter().any(|http| name.starts_with(http)) => 200,
        _ => 0,
    }
}

#[tokio::test]
async fn every_sample_is_an_event_that_its_function_takes() {
    // First what others need, last what ends the sale; a stop is undone.
    const FIRST: [&str; 4] = ["admission/challenge", "admission/token", "reservation/reserve", "reservation/poll"];
    const LAST: [&str; 2] = ["admin/end_recurrence", "admin/close"];
    let lab = Lab::selling(terms(100, 1)).await;
    lab.open("packet", &packet(5)).await;
    // Listens on the bus, which there is only then.
    lab.merchant().await;
    let names = local::event::names().unwrap();
    let others = names.iter().map(String::as_str).filter(|name| !FIRST.contains(name) && !LAST.contains(name));
    let mut wrong = Vec::new();
    for name in FIRST.into_iter().chain(others).chain(LAST) {
        let found = outcome(&lab, name).await;
        if found != expected(name) {
            wrong.push(format!("{name}: {found} instead of {}", expected(name)));
        }
        if name == "admin/stop" {
            outcome(&lab, "admin/start").await;
        }
        lab.refresh_snapshots().await;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

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
    let event = sample("reservation/reserve");
    let (deps, request) = (when_taken(&lab, &event), request(&event));
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
    assert_eq!(lab.order_of(&alice.reservation).await.state, OrderState::Pending);
    assert_eq!(
        message(&sample("dead_letter/one"), 0).reservation.user.as_str(),
        "carol",
        "a dead letter is such a message"
    );

    let callback = sample("payment/callback");
    let body = callback["body"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), sample("messages/payment"));
    let old = payment::handle(&lab.payment(), request(&callback)).await;
    Answer::of_handler(&request(&callback), old).problem(401, "unauthorized");
    let signed = lab.answer(&Ask::callback(body, &lab.payment_key)).await.expect(200);
    assert_eq!(signed.text("outcome"), "applied");

    let due = sample("expiry/due");
    let expiring = ExpiryMessage::parse(due["Records"][0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(expiring.id, alice.reservation.id);
    assert!(expiry::handle(&lab.expiry_in(3600), sqs(&due)).await.batch_item_failures.is_empty());
    assert_eq!(lab.order_of(&alice.reservation).await.state, OrderState::Paid);
}
