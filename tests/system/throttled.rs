//! AWS throttles for a while.

use aws_sdk_sqs::types::QueueAttributeName as Attribute;

use crate::batches::PUT_OFF;
use crate::prelude::*;

const BUYERS: usize = 100;
const UNITS: u32 = 70;
const AT_ONCE: usize = 12;
/// SQS refuses from this many answers on, until that many.
const REFUSES: [usize; 2] = [15, 50];

/// Every second buyer sends a key and can ask again.
const fn has_key(buyer: usize) -> bool {
    buyer.is_multiple_of(2)
}

fn ask(buyer: usize) -> Ask {
    let ask = Ask::reserve(SALE, &format!("user-{buyer}"));
    if has_key(buyer) { ask.header("idempotency-key", "key-1") } else { ask }
}

fn id_in(answer: &Answer) -> ReservationId {
    answer.text("reservation_id").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_refusing_queue_did_not_take_is_ordered_later() {
    let lab = Lab::selling(terms(UNITS, 1)).await;
    let parts = Parts::patient(&lab).await;
    let deps = parts.start(reservation::ReservationDeps::new);
    let mut answers = stream::iter(0..BUYERS)
        .map(|buyer| {
            let (deps, recorder) = (deps.clone(), lab.recorder.clone());
            tokio::spawn(async move { (buyer, ask_function(&recorder, &deps, &ask(buyer)).await) })
        })
        .buffer_unordered(AT_ONCE);
    let (mut heard, mut promised, mut refused) = (0, Vec::new(), HashMap::new());
    while let Some(one) = answers.next().await {
        let (buyer, answer) = one.unwrap();
        match answer.status {
            202 => promised.push(id_in(&answer)),
            503 => {
                let answer = answer.problem(503, "overloaded");
                assert_eq!(answer.header("retry-after"), "2");
                refused.insert(buyer, id_in(&answer));
            }
            _ => drop(answer.problem(409, "sold_out")),
        }
        heard += 1;
        if heard == REFUSES[0] {
            parts.aws.set(Service::Sqs, Conduct::Fails);
        } else if heard == REFUSES[1] {
            parts.aws.set(Service::Sqs, Conduct::Answers);
        }
    }
    println!("{} were promised a unit, {} heard that the queue refused", promised.len(), refused.len());
    assert_eq!(promised.len() + refused.len(), UNITS as usize);
    let (with_key, without): (Vec<_>, Vec<_>) = refused.iter().partition(|(buyer, _)| has_key(**buyer));
    assert!(with_key.len() >= 5 && without.len() >= 5, "{with_key:?} {without:?}");

    for (buyer, id) in with_key {
        let again = ask_function(&lab.recorder, &deps, &ask(*buyer)).await.expect(202);
        assert_eq!(id_in(&again), *id, "the retry gets the same id");
    }
    // The others never ask again. Reconciliation finds them in the outbox.
    heal(&lab).await;
    assert_eq!(lab.clean_audit().await, (0, 0, UNITS));
    let ids: Vec<_> = promised.into_iter().chain(refused.into_values()).collect();
    let orders = lab.ledger.orders(&ids).await.unwrap();
    assert_eq!(orders.len(), UNITS as usize);
    assert!(orders.iter().all(|order| order.state == OrderState::Pending));
    lab.check_history("refusing_queue", &[SALE], Redis::Keeps).await;
}

/// As in the deployed queue, a message becomes a dead letter after the fourth delivery.
pub(crate) async fn with_dead_letters(lab: &Lab) {
    let wanted = lab.sqs.get_queue_attributes().queue_url(lab.queue("orders_dlq")).attribute_names(Attribute::QueueArn);
    let arn = wanted.send().await.unwrap().attributes.unwrap()[&Attribute::QueueArn].clone();
    let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 4 }).to_string();
    let set = lab.sqs.set_queue_attributes().queue_url(lab.queue("orders"));
    set.attributes(Attribute::RedrivePolicy, policy).send().await.unwrap();
}

/// Delivers what is in the queue now. Returns how many messages succeeded, and those that failed and are put off.
async fn deliver(lab: &Lab, deps: &order::OrderDeps) -> (usize, Vec<Message>) {
    let messages = lab.receive("orders").await;
    let response = order::handle(deps, events::received(&messages)).await;
    let failed: Vec<_> = response.batch_item_failures.iter().map(|failure| &*failure.item_identifier).collect();
    let (failed, done): (Vec<_>, Vec<_>) =
        messages.into_iter().partition(|message| failed.contains(&message.message_id().unwrap()));
    for message in &done {
        lab.delete("orders", message).await;
    }
    (done.len(), failed)
}

/// Shows messages that are put off before their time, which `batches` tests.
async fn show(lab: &Lab, put_off: &[Message]) {
    for message in put_off {
        lab.show_again("orders", message).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_throttled_table_loses_no_message() {
    const ORDERS: usize = 30;
    let lab = Lab::selling(terms(ORDERS as u32 + 1, 1)).await;
    with_dead_letters(&lab).await;
    let names: Vec<String> = (0..ORDERS).map(|buyer| format!("user-{buyer}")).collect();
    let reserved = join_all(names.iter().map(|name| lab.reserve(name))).await;
    let parts = Parts::patient(&lab).await;
    let buyers = parts.start(reservation::ReservationDeps::new);
    buyers.snapshots.of(&SALE.parse().unwrap()).await.unwrap();
    parts.aws.set(Service::DynamoDb, Conduct::Fails);

    let deps = parts.start(order::OrderDeps::new);
    let first = join_all((0..ORDERS.div_ceil(10)).map(|_| deliver(&lab, &deps))).await;
    let (done, failed): (Vec<usize>, Vec<_>) = first.into_iter().unzip();
    let failed = failed.concat();
    assert_eq!((failed.len(), done.iter().sum::<usize>()), (ORDERS, 0));
    assert_eq!(lab.clean_audit().await, (1, ORDERS as u32, 0));
    assert_eq!(parts.aws.answered(PUT_OFF), ORDERS, "all are put off");
    // A process that has read the table once needs it for no reservation. A request for what only the table knows is
    // told when to ask again.
    let ask = async |ask: &Ask| ask_function(&lab.recorder, &buyers, ask).await;
    ask(&Ask::reserve(SALE, "late")).await.expect(202);
    let look = Ask::get(format!("/v1/reservations/{}", reserved[0].id)).by("user-0");
    let refused = until("Redis alone no longer tells where it stands", async || {
        let answer = ask(&look).await;
        (answer.status != 200).then_some(answer)
    });
    assert_eq!(refused.await.problem(503, "overloaded").header("retry-after"), "2");

    parts.aws.set(Service::DynamoDb, Conduct::FailsOften);
    show(&lab, &failed).await;
    let (mut done, mut failed_again) = (0, Vec::new());
    until("all are delivered again", async || {
        let (more, failed) = deliver(&lab, &deps).await;
        done += more;
        failed_again.extend(failed);
        (done + failed_again.len() >= ORDERS).then_some(())
    })
    .await;
    parts.aws.set(Service::DynamoDb, Conduct::Answers);
    show(&lab, &failed_again).await;
    until("every reservation has an order", async || {
        done += deliver(&lab, &deps).await.0;
        (done == ORDERS + 1).then_some(())
    })
    .await;
    let [refused, often] = [failed.len(), failed_again.len()];
    println!("{refused} deliveries failed while all was refused, {often} while two of three were");
    assert_eq!(lab.depth("orders").await, [0, 0, 0]);
    assert_eq!(lab.depth("orders_dlq").await, [0, 0, 0], "none is a dead letter");
    assert_eq!(lab.clean_audit().await, (0, 0, ORDERS as u32 + 1));
    for reservation in &reserved {
        assert_eq!(lab.order_of(reservation).await.state, OrderState::Pending);
    }
    lab.check_history("throttled_table", &[SALE], Redis::Keeps).await;
}
