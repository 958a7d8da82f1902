//! Bad input to every route gets the right problem and changes nothing.

use crate::bad_requests::Bad;
use crate::prelude::*;
use crate::{bad_requests, bad_updates};

#[tokio::test]
async fn the_functions_refuse_it_and_change_nothing() {
    let lab = Lab::selling(terms(5, 5)).await;
    lab.reserve("alice").await;
    let reservation = lab.buy("alice").await.id.to_string();
    let mut cases = bad_requests::all(&reservation, &lab.payment_key);
    cases.extend(bad_updates::all());
    let before = lab.contents().await;
    lab.calls.take();
    let mut faults = Vec::new();
    for case in &cases {
        let answer = lab.answer(&case.ask).await;
        let heard = (answer.status, answer.body["code"].as_str(), answer.header("content-type"));
        let wanted = (case.status, Some(case.code), "application/problem+json");
        if heard != wanted {
            let Bad { what, ask: Ask { method, path, .. }, .. } = case;
            faults.push(format!("{what} ({method} {path:.100}): {heard:?} instead of {wanted:?}"));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
    let mut asked = lab.calls.take_targets();
    asked.retain(|target| target.starts_with("AmazonSQS"));
    assert_eq!(asked, [""; 0]);
    let mut after = lab.contents().await;
    // A forged pass changes only its sender's count of violations.
    after.items.retain(|name, _| !name.starts_with("VIOLATIONS#forger-"));
    assert_eq!(after, before);
    println!("{} bad requests", cases.len());
}
