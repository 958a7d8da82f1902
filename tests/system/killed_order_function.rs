//! Kills the order function's process after the first order of a batch, in the middle, and after the last. Every effect of an
//! order dies in `crashes`; here the process is a real one.

use aws_sdk_sqs::types::MessageSystemAttributeName;
use tokio::time::timeout;

use crate::prelude::*;

const BATCH: usize = 10;
/// After how many orders the function is killed, each in a run of its own.
const KILLED_AFTER: [usize; 3] = [1, 5, BATCH];
const PROGRAM: &str = "lambda/order/bootstrap";
const PLACE: &str = "DynamoDB_20120810.TransactWriteItems";

/// Receives all ten messages, each on this delivery.
async fn receive_all(lab: &Lab, delivery: &str) -> Vec<Message> {
    let mut received = Vec::new();
    until("the whole batch is received", async || {
        received.extend(lab.receive("orders").await);
        (received.len() == BATCH).then_some(())
    })
    .await;
    let count = MessageSystemAttributeName::ApproximateReceiveCount;
    assert!(received.iter().all(|message| message.attributes().unwrap()[&count] == delivery));
    received
}

/// How many reservations have an order, are confirmed in Redis and were sent to expire.
#[derive(Debug)]
struct Left {
    orders: usize,
    confirmed: usize,
    expiries: u32,
}

async fn left(lab: &Lab, reserved: &[Reservation]) -> Left {
    let ids: Vec<_> = reserved.iter().map(|reservation| reservation.id.clone()).collect();
    let orders = lab.ledger.orders(&ids).await.unwrap();
    let confirmed = join_all(reserved.iter().map(|reservation| lab.reservation_state(reservation))).await;
    let confirmed = confirmed.into_iter().filter(|state| *state == ReservationState::Ordered).count();
    Left { orders: orders.len(), confirmed, expiries: lab.depth("expiry").await.iter().sum() }
}

/// Kills the function once `orders` orders are in the ledger, then delivers its messages to another process. Returns none if
/// one of them waited too long for the emulator: then it gives up before it can be killed, or leaves orders to yet another
/// delivery.
async fn killed_after(orders: usize) -> Option<Left> {
    let lab = Lab::selling(terms(BATCH as u32, 1)).await;
    let names: Vec<String> = (0..BATCH).map(|buyer| format!("user-{buyer}")).collect();
    let reserved = join_all(names.iter().map(|name| lab.reserve(name))).await;
    let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
    let limit = lambda_timeout("order");
    let event = |messages: &[Message]| serde_json::to_vec(&events::received(messages)).unwrap();

    let first = receive_all(&lab, "1").await;
    let (api, process) = lab.process("order", PROGRAM, &aws.endpoint(), []).await;
    tokio::select! {
        biased;
        reached = timeout(limit, aws.done(PLACE, orders)) => reached.expect("the function places orders"),
        made = api.invoke(event(&first)) => {
            let gave_up: SqsBatchResponse = serde_json::from_slice(&made.unwrap()).unwrap();
            let placed = left(&lab, &reserved).await.orders;
            eprintln!("it gave up after {placed} orders, before order {orders}: {gave_up:?}");
            assert!(gave_up.batch_item_failures.len() + placed >= BATCH, "it acknowledged a message without an order");
            return None;
        }
    }
    drop(process);
    let left = left(&lab, &reserved).await;

    for message in &first {
        lab.show_again("orders", message).await;
    }
    let again = receive_all(&lab, "2").await;
    let (api, _process) = lab.process("order", PROGRAM, &aws.endpoint(), []).await;
    let made = timeout(limit, api.invoke(event(&again))).await.expect("the second process ends").unwrap();
    let response: SqsBatchResponse = serde_json::from_slice(&made).unwrap();
    if !response.batch_item_failures.is_empty() {
        eprintln!("the second process gave up: {response:?}");
        return None;
    }

    assert_eq!(lab.clean_audit().await, (0, 0, BATCH as u32), "{left:?}");
    assert_eq!(lab.ledger.guards(&round(SALE, 1)).await.unwrap().len(), BATCH);
    for reservation in &reserved {
        let order = lab.order_of(reservation).await;
        assert_eq!((order.state, order.reservation.unit), (OrderState::Pending, reservation.unit), "{left:?}");
        assert_eq!(lab.reservation_state(reservation).await, ReservationState::Ordered, "{left:?}");
    }
    lab.check_history("killed_order_function", &[SALE], Redis::Keeps).await;
    let expiries: u32 = lab.depth("expiry").await.iter().sum();
    assert!(expiries >= BATCH as u32, "{expiries} expiry messages for {BATCH} orders; before: {left:?}");
    Some(left)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_survives_its_function_at_any_moment() {
    let killed = |orders| until("a run is killed in time", async move || killed_after(orders).await);
    let runs = KILLED_AFTER.map(async |orders| {
        let left = timeout(Duration::from_secs(300), killed(orders)).await;
        left.unwrap_or_else(|_| panic!("no run was killed at order {orders} and placed all after it in 300 s"))
    });
    let all: Vec<Left> = join_all(runs).await;
    println!("killed with {all:?}");
    let in_the_middle = |left: &Left| left.confirmed < BATCH || left.expiries < BATCH as u32;
    assert!(all.iter().any(in_the_middle), "killed too late to tell: {all:?}");
}
