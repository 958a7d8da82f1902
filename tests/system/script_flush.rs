//! Redis forgets its scripts again and again while everyone buys, as a replica that takes over may not have them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::future::join_all;
use futures::{StreamExt, stream};
use history::Redis;
use sale::ReservationId;
use tests::terms;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::events;
use crate::lab::{Lab, SALE};
use crate::recording::ask_reservation;
use crate::resources::receive;

const BUYERS: usize = 200;
const UNITS: u32 = 40;
const AT_ONCE: usize = 12;
const CONSUMERS: usize = 2;

/// Flushes the scripts until the stampede is over. Returns how often.
async fn flush(lab: Arc<Lab>, over: Arc<AtomicBool>) -> usize {
    let client = redis::Client::open(lab.valkey.url()).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    let mut flushes = 0;
    while !over.load(Ordering::SeqCst) {
        let () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut redis).await.unwrap();
        flushes += 1;
    }
    flushes
}

/// Handles messages until every unit has an order.
async fn consume(lab: Arc<Lab>, handled: Arc<AtomicUsize>) {
    while handled.load(Ordering::SeqCst) < UNITS as usize {
        let messages = receive(&lab.sqs, &lab.orders_url).await;
        let failed = order::handle(&lab.order(), events::received(&messages)).await.batch_item_failures;
        assert_eq!(failed.len(), 0, "no message fails because of it");
        for message in &messages {
            let delete = lab.sqs.delete_message().queue_url(&lab.orders_url);
            delete.receipt_handle(message.receipt_handle().unwrap()).send().await.unwrap();
        }
        handled.fetch_add(messages.len(), Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_notices_that_the_scripts_are_gone() {
    let lab = Arc::new(Lab::selling(terms(UNITS, 1)).await);
    let (over, handled) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let flusher = tokio::spawn(flush(Arc::clone(&lab), Arc::clone(&over)));
    let consumers: Vec<_> =
        (0..CONSUMERS).map(|_| tokio::spawn(consume(Arc::clone(&lab), Arc::clone(&handled)))).collect();
    let deps = lab.reservation();
    let answers: Vec<Answer> = stream::iter(0..BUYERS)
        .map(|buyer| {
            let (lab, deps, ask) = (Arc::clone(&lab), deps.clone(), Ask::reserve(SALE, &format!("user-{buyer}")));
            tokio::spawn(async move {
                // A flush for every request, however seldom the flusher gets its turn.
                lab.redis(&["SCRIPT", "FLUSH"]).await;
                ask_reservation(&lab.recorder, &deps, &ask).await
            })
        })
        .buffer_unordered(AT_ONCE)
        .map(Result::unwrap)
        .collect()
        .await;
    let mut won: BTreeSet<ReservationId> = BTreeSet::new();
    for answer in answers {
        match answer.status {
            202 => assert!(won.insert(answer.text("reservation_id").parse().unwrap())),
            _ => drop(answer.problem(409, "sold_out")),
        }
    }
    assert_eq!(won.len(), UNITS as usize);
    join_all(consumers).await.into_iter().for_each(Result::unwrap);
    over.store(true, Ordering::SeqCst);
    let flushes = flusher.await.unwrap();
    println!("the scripts were forgotten {} times", BUYERS + flushes);

    assert_eq!(lab.clean_audit().await, (0, 0, UNITS));
    let ids: Vec<ReservationId> = won.into_iter().collect();
    let orders = lab.ledger.orders(&ids).await.unwrap();
    let units: BTreeSet<u32> = orders.iter().map(|order| order.claim.unit.0).collect();
    assert_eq!(units, (1..=UNITS).collect());
    lab.check_history("script_flush", &[SALE], Redis::Keeps).await;
}
