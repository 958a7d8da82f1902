//! Bad input to every route gets the right problem and changes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::types::AttributeValue;
use futures::StreamExt;
use serde_json::json;
use tests::terms;

use crate::answer::Answer;
use crate::bad_requests::{Bad, Target, all};
use crate::cloud::cloud;
use crate::lab::Lab;
use crate::resources::{items, keys};
use crate::shop::Shop;

/// Concurrent requests at the gateway.
const AT_ONCE: usize = 16;

/// The fault of the answer, if it has one.
fn fault(case: &Bad, answer: &Answer) -> Option<String> {
    let heard = (answer.status, answer.body["code"].as_str(), answer.header("content-type"));
    let wanted = (case.status, Some(case.code), "application/problem+json");
    let path: String = case.ask.path.chars().take(100).collect();
    (heard != wanted).then(|| format!("{} ({} {path}): {heard:?} instead of {wanted:?}", case.what, case.ask.method))
}

/// Sends it as a client does: again after a 429, unless the case expects one.
async fn send_in_time(case: &Bad) -> Answer {
    loop {
        let answer = case.ask.send().await;
        if answer.status != 429 || case.status == 429 {
            return answer;
        }
        let wait_s = answer.header("retry-after").parse().unwrap();
        tokio::time::sleep(Duration::from_secs(wait_s)).await;
    }
}

fn not_too_long(case: &Bad, answer: &Answer) -> Option<String> {
    (answer.status != 414).then(|| format!("{}: {} instead of 414", case.what, answer.status))
}

#[tokio::test]
async fn the_functions_refuse_it_and_change_nothing() {
    let lab = Lab::selling(terms(5, 5)).await;
    lab.reserve("alice").await;
    let reservation = lab.buy("alice").await.id.to_string();
    let (user, key) = ("alice".to_owned(), lab.payment_key.clone());
    let cases = all(&Target { sale: "lamp".to_owned(), user, reservation, key });
    let before = lab.contents().await;
    lab.calls.take();
    let mut faults = Vec::new();
    for case in &cases {
        faults.extend(fault(case, &lab.answer(&case.ask).await));
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
    let mut asked = lab.calls.take_targets();
    asked.sort();
    asked.dedup();
    assert!(asked.iter().all(|target| !target.starts_with("AmazonSQS")), "{asked:?}");
    let mut after = lab.contents().await;
    after.items.retain(|name, _| !is_strike_of_a_forger(name));
    assert_eq!(after, before);
    println!("{} bad requests", cases.len());
}

/// A forged pass changes only its sender's count of strikes.
fn is_strike_of_a_forger(name: &str) -> bool {
    name.starts_with("STRIKES#forger-")
}

/// Everything in the deployed system that other tests do not touch.
async fn deployed() -> (BTreeMap<String, (Vec<u8>, i64)>, BTreeMap<String, BTreeMap<String, AttributeValue>>) {
    let deployment = &cloud().await.deployment;
    let dynamodb = DynamoDb::new(&deployment.patient_aws_config());
    // Every answer is counted, so these keys change.
    let counted = |name: &str| name.starts_with("answers:");
    let own = |name: &str| {
        // It names what other tests publish.
        name != "CHANGES"
            && !counted(name)
            && !is_strike_of_a_forger(name)
            && (!name.contains("shop-") || name.contains("shop-bad-"))
            // Reconciliation, which runs each minute, may empty it meanwhile. What is in it, the audit counts.
            && !name.starts_with("outbox:")
    };
    let keys = keys(&deployment.redis_url).await.into_iter().filter(|(name, _)| own(name));
    // The provider names payments, so those of other tests are found by their reservation.
    let of_others = |name: &str, item: &BTreeMap<String, AttributeValue>| {
        let of = item.get("reservation_id").and_then(|id| id.as_s().ok());
        name.starts_with("PAYMENT#") && !of.is_some_and(|id| id.starts_with("shop-bad-"))
    };
    let items = items(&dynamodb, &deployment.table).await.into_iter();
    let items = items.filter(|(name, item)| own(name) && !of_others(name, item));
    (keys.collect(), items.collect())
}

#[tokio::test]
async fn the_gateway_passes_it_on_and_nothing_changes() {
    let shop = Shop::open_in_time("bad-input", json!({ "total": 5, "per_user_limit": 5 })).await;
    let reservation = shop.buy("alice").await;
    let key = cloud().await.deployment.payment_key().await.unwrap();
    let cases = all(&Target { sale: shop.sale.clone(), user: "alice".to_owned(), reservation, key });
    let before = deployed().await;
    let faults = futures::stream::iter(&cases).map(async |case| {
        let answer = send_in_time(case).await;
        // A request that is too long for the gateway reaches no function.
        if case.ask.is_too_long() { not_too_long(case, &answer) } else { fault(case, &answer) }
    });
    let faults: Vec<String> = faults.buffer_unordered(AT_ONCE).filter_map(async |fault| fault).collect().await;
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
    assert_eq!(deployed().await, before);
    assert_eq!(shop.clean_audit().await, (4, 0, 1));
}
