//! Many more buyers than units, at one moment.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use history::Redis;
use sale::ReservationId;
use tests::terms;

use crate::ask::Ask;
use crate::events;
use crate::lab::{Lab, SALE};
use crate::recording::ask_reservation;
use crate::resources::{depth, receive};

const BUYERS: usize = 300;
const UNITS: u32 = 50;
const CONSUMERS: usize = 4;
/// How often a buyer asks again at most.
const MOST_TRIES: u32 = 100;

/// Handles what the queue holds until it is empty, each message twice at once.
async fn consume(lab: Arc<Lab>) -> usize {
    let mut handled = 0;
    loop {
        let messages = receive(&lab.sqs, &lab.orders_url).await;
        if messages.is_empty() {
            return handled;
        }
        let twice = messages.iter().chain(&messages);
        let response = order::handle(&lab.order(), events::received(twice)).await;
        assert!(response.batch_item_failures.is_empty());
        for message in &messages {
            let delete = lab.sqs.delete_message().queue_url(&lab.orders_url);
            delete.receipt_handle(message.receipt_handle().unwrap()).send().await.unwrap();
        }
        handled += messages.len();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_units_that_exist_are_sold() {
    let lab = Arc::new(Lab::selling(terms(UNITS, 1)).await);
    let buyers = (0..BUYERS).map(|buyer| {
        let (deps, recorder) = (lab.reservation(), lab.recorder.clone());
        let ask = Ask::reserve("lamp", &format!("user-{buyer}")).header("idempotency-key", "key-1");
        tokio::spawn(async move {
            // On a busy machine a function may hear Redis too late. A buyer who is told so asks again.
            for again in 0.. {
                let answer = ask_reservation(&recorder, &deps, &ask).await;
                if answer.status != 503 || again == MOST_TRIES {
                    return (answer, again);
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            unreachable!("an answer is returned")
        })
    });
    let mut won: BTreeSet<ReservationId> = BTreeSet::new();
    let (mut sold_out, mut tries) = (0, 0);
    for answer in join_all(buyers).await {
        let (answer, again) = answer.unwrap();
        tries += again;
        if answer.status == 202 {
            won.insert(answer.text("reservation_id").parse().unwrap());
        } else {
            answer.problem(409, "sold_out");
            sold_out += 1;
        }
    }
    assert_eq!((won.len(), sold_out), (UNITS as usize, BUYERS - UNITS as usize));
    assert_eq!(lab.clean_audit().await, (0, UNITS, 0));
    // A buyer who asked again may have caused a message each time.
    let sent = depth(&lab.sqs, &lab.orders_url).await[0];
    assert!(
        sent >= UNITS && sent <= UNITS + tries,
        "{sent} messages for {UNITS} winners, who asked again {tries} times"
    );

    let consumers = (0..CONSUMERS).map(|_| tokio::spawn(consume(Arc::clone(&lab))));
    let handled: usize = join_all(consumers).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(handled, sent as usize);
    assert_eq!(depth(&lab.sqs, &lab.orders_url).await, [0, 0, 0]);
    assert_eq!(lab.clean_audit().await, (0, 0, UNITS));
    let ids: Vec<ReservationId> = won.into_iter().collect();
    let orders = lab.ledger.orders(&ids).await.unwrap();
    let units: BTreeSet<u32> = orders.iter().map(|order| order.claim.unit.0).collect();
    assert_eq!(units, (1..=UNITS).collect());
    lab.check_history("stampede", &[SALE], Redis::Keeps).await;
}
