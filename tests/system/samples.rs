//! The sample events work with the functions that they are named after.

use crate::events::{request, sqs};
use crate::packets::packet;
use crate::prelude::*;
use crate::push;

/// The reservation function when a sample was taken, which its pass needs.
fn when_taken(lab: &Lab, event: &Value) -> reservation::ReservationDeps {
    let taken = event["requestContext"]["timeEpoch"].as_i64().unwrap();
    let clock = Clock::ahead_by_ms(taken - now().0);
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
        "reconciliation" => lab.reconcile().await.failed,
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
        "emitter" => emitter::handle(&lab.emitter(), records()).await.batch_item_failures.len(),
        "notifier" => notifier::handle(&push::notifier(lab, endpoint).await, records()).await.batch_item_failures.len(),
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

/// What a sample event carries is also a sample of its own.
#[test]
fn samples_of_messages_are_what_the_events_carry() {
    let carried = |event: &str| sample(event)["Records"][0]["body"].as_str().unwrap().to_owned();
    let order = OrderMessage::parse(&carried("order/one")).unwrap();
    assert_eq!(order.to_body(), OrderMessage::parse(&sample("messages/order").to_string()).unwrap().to_body());
    assert!(OrderMessage::parse(&carried("dead_letter/one")).is_ok(), "a dead letter is such a message");
    assert_eq!(ExpiryMessage::parse(&carried("expiry/due")).unwrap().id, order.reservation.id);
    let callback: Value = serde_json::from_str(sample("payment/callback")["body"].as_str().unwrap()).unwrap();
    assert_eq!(callback, sample("messages/payment"));
}
