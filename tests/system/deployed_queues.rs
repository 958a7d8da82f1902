//! The deployed queues with the deployed functions on them.

use std::time::{Duration, Instant};

use aws_sdk_sqs::Client as Sqs;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use queue::OrderMessage;
use sale::{Claim, ReservationId};
use serde_json::json;
use stock::{Reserve, Stock};
use tests::{round, user};
use uuid::Uuid;

use crate::cloud::cloud;
use crate::resources::receive;
use crate::shop::Shop;
use crate::wait::until;

/// The three rungs, without the time that the queue takes to deliver a message.
const LADDER: Duration = Duration::from_secs(5 + 10 + 30);

/// Takes a unit without sending the message.
async fn reserve(stock: &Stock, shop: &Shop, name: &str) -> Claim {
    match stock
        .round(&round(&shop.sale, 1))
        .reserve(Uuid::now_v7(), &user(name), sale::BuyerClass::EVERYONE)
        .await
        .unwrap()
    {
        Reserve::Reserved(claim) => claim,
        other => panic!("{other:?}"),
    }
}

fn message(claim: &Claim) -> String {
    OrderMessage::new(claim.clone(), None).to_body()
}

async fn status(shop: &Shop, name: &str, id: &ReservationId, status: &str) {
    shop.wait_for(name, &id.to_string(), status).await;
}

#[tokio::test]
async fn poison_climbs_the_ladder_alone_and_ends_in_quarantine() {
    let deployment = &cloud().await.deployment;
    let sqs = Sqs::new(&deployment.patient_aws_config());
    let stock = Stock::new(&deployment.redis_url).unwrap();
    let shop = Shop::open("ladder", json!({ "total": 4 })).await;

    let poison = format!("not an order: {}", Uuid::now_v7());
    let (alice, bob) = (reserve(&stock, &shop, "alice").await, reserve(&stock, &shop, "bob").await);
    let entries = [message(&alice), poison.clone(), message(&bob)]
        .into_iter()
        .enumerate()
        .map(|(n, body)| SendMessageBatchRequestEntry::builder().id(n.to_string()).message_body(body).build().unwrap());
    let start = Instant::now();
    let batch = sqs.send_message_batch().queue_url(&deployment.orders_queue_url).set_entries(Some(entries.collect()));
    assert!(batch.send().await.unwrap().failed.is_empty());
    status(&shop, "alice", &alice.id, "pending_payment").await;
    status(&shop, "bob", &bob.id, "pending_payment").await;
    let ordered_after = start.elapsed();

    // Meanwhile a dead letter becomes an order, and its order message arrives after all.
    let carol = reserve(&stock, &shop, "carol").await;
    let send = async |url: &str, body: String| {
        sqs.send_message().queue_url(url).message_body(body).send().await.unwrap();
    };
    send(&deployment.orders_dlq_url, message(&carol)).await;
    status(&shop, "carol", &carol.id, "pending_payment").await;
    let ordered = shop.look("carol", &carol.id.to_string()).await.body;
    send(&deployment.orders_queue_url, message(&carol)).await;
    shop.buy("dave").await;

    let kept = until("the poison is in quarantine", async || {
        let messages = receive(&sqs, &deployment.quarantine_queue_url).await;
        messages.iter().any(|message| message.body() == Some(&*poison)).then_some(())
    });
    kept.await;
    let after = start.elapsed();
    assert!(after > LADDER, "{after:?} is less than the ladder");
    assert!(ordered_after < LADDER, "the others waited for the poison: {ordered_after:?}");
    assert_eq!(shop.look("carol", &carol.id.to_string()).await.body, ordered, "the late message changed nothing");
    assert_eq!(shop.clean_audit().await, (0, 0, 4));
    println!("the others after {ordered_after:?}, the poison after {after:?}");
}

#[tokio::test]
async fn the_same_message_five_times_is_one_order() {
    let deployment = &cloud().await.deployment;
    let sqs = Sqs::new(&deployment.patient_aws_config());
    let stock = Stock::new(&deployment.redis_url).unwrap();
    let shop = Shop::open("five-times", json!({ "total": 20 })).await;
    let mut claims = Vec::new();
    for n in 0..20 {
        claims.push(reserve(&stock, &shop, &format!("user-{n}")).await);
    }
    let sends = (0..5)
        .flat_map(|_| &claims)
        .map(|claim| sqs.send_message().queue_url(&deployment.orders_queue_url).message_body(message(claim)).send());
    futures::future::try_join_all(sends).await.unwrap();
    for claim in &claims {
        status(&shop, claim.user.as_str(), &claim.id, "pending_payment").await;
    }
    assert_eq!(shop.clean_audit().await, (0, 0, 20));
}
