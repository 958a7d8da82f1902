//! A part that does not answer.

use messaging::queue::OrderQueue;

use crate::prelude::*;

/// An address where nothing listens.
const NOWHERE: &str = "127.0.0.1:1";

async fn without_queue(lab: &Lab) -> reservation::ReservationDeps {
    let config = cloud().await.deployment.aws_config();
    let config = aws_sdk_sqs::config::Builder::from(&config).endpoint_url(format!("http://{NOWHERE}"));
    let orders = OrderQueue::new(Sqs::from_conf(config.build()), lab.queue("orders"), Clock::system());
    reservation::ReservationDeps { orders, ..lab.reservation() }
}

#[track_caller]
fn try_again(answer: Answer) -> Answer {
    let answer = answer.problem(503, "overloaded");
    assert_eq!(answer.header("retry-after"), "2");
    answer
}

async fn queued(lab: &Lab) -> Vec<OrderMessage> {
    let messages = lab.receive("orders").await;
    messages.iter().map(|message| OrderMessage::parse(message.body().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn a_client_without_a_key_has_its_reservation_sent_too() {
    let lab = Lab::selling(terms(2, 1)).await;
    let reserve = Ask::reserve("lamp", "alice");
    let id = try_again(without_queue(&lab).await.answer(&reserve).await).text("reservation_id").to_owned();

    // Its clock leaves out the time that the first request took.
    let early = lab.just_reserved();
    let at_once = early.answer(&reserve).await.problem(409, "limit_reached");
    assert_eq!(at_once.body["reservation_ids"], json!([id]));
    assert_eq!(lab.depth("orders").await, [0, 0, 0], "its message may still be under way");
    let later = reservation::ReservationDeps { clock: Clock::ahead_by_ms(2500), ..lab.reservation() };
    later.answer(&reserve).await.problem(409, "limit_reached");
    let messages = queued(&lab).await;
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].reservation.id.to_string(), id);
}

/// Whoever is at a high limit must not lengthen a backlog with each request.
#[tokio::test]
async fn of_many_reservations_only_the_latest_is_sent_again() {
    let lab = Lab::selling(terms(3, 3)).await;
    let without = without_queue(&lab).await;
    let mut latest = String::new();
    for key in ["key-1", "key-2", "key-3"] {
        let refused = without.answer(&Ask::reserve("lamp", "alice").header("idempotency-key", key)).await;
        latest = try_again(refused).text("reservation_id").to_owned();
    }
    let later = reservation::ReservationDeps { clock: Clock::ahead_by_ms(2500), ..lab.reservation() };
    later.answer(&Ask::reserve("lamp", "alice").header("idempotency-key", "key-4")).await.problem(409, "limit_reached");
    let sent: Vec<String> = queued(&lab).await.iter().map(|message| message.reservation.id.to_string()).collect();
    assert_eq!(sent, [latest]);
}

/// The order is cancelled in the ledger but not yet in Redis. The retry finishes it.
#[tokio::test]
async fn a_cancellation_without_redis_is_finished_by_the_retry() {
    let lab = Lab::selling(terms(2, 1)).await;
    let (alice, bob) = (lab.reserve("alice").await, lab.buy("bob").await);
    let mut deps = lab.reservation();
    deps.fulfilment.stock = Stock::new(&format!("redis://{NOWHERE}")).unwrap();
    let before = lab.contents().await;
    try_again(deps.answer(&Ask::status(&alice)).await);
    try_again(deps.answer(&Ask::cancel(&alice)).await);
    assert_eq!(lab.contents().await, before, "only Redis knows the reservation, so it is not cancelled");
    try_again(deps.answer(&Ask::cancel(&bob)).await);
    assert_eq!(lab.order_of(&bob).await.state, OrderState::Cancelled);
    assert_eq!(lab.free().await, []);
    lab.answer(&Ask::cancel(&bob)).await.expect(200);
    assert_eq!(lab.free().await, [bob.unit]);
    assert_eq!(lab.clean_audit().await, (1, 1, 0));
}
