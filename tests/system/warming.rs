//! The schedule that loads rounds.

use fulfilment::{Loading, load_round};
use warmup::WarmupSummary;

use crate::prelude::*;

fn opening_in(minutes: i64) -> Terms {
    rounds::from_to(minutes * 60, minutes * 60 + 3600, terms(3, 1))
}

async fn run(lab: &Lab) -> WarmupSummary {
    warmup::handle(&lab.warmup()).await.unwrap()
}

#[tokio::test]
async fn what_opens_soon_is_loaded_once() {
    let lab = Lab::new().await;
    lab.publish("open", &opening_in(-30)).await;
    lab.publish("soon", &opening_in(9)).await;
    lab.publish("later", &opening_in(11)).await;
    lab.publish("over", &opening_in(-61)).await;
    rounds::draft(&lab.ledger, "draft", &opening_in(0), None).await;
    assert_eq!(run(&lab).await, WarmupSummary { loaded: 2, present: 0, later: 1, ..WarmupSummary::default() });
    let loaded = lab.contents().await;
    let keys: Vec<&String> = loaded.keys.keys().collect();
    assert_eq!(keys, ["sale:{open:1:0}", "sale:{soon:1:0}"]);
    assert!(!loaded.items.keys().any(|key| key.starts_with("LINE#")), "none has a line");

    assert_eq!(run(&lab).await, WarmupSummary { loaded: 0, present: 2, later: 1, ..WarmupSummary::default() });
    assert_eq!(lab.contents().await, loaded);
    lab.answer(&Ask::reserve("open", "alice")).await.expect(202);
    lab.answer(&Ask::reserve("soon", "alice")).await.problem(409, "not_open");
}

/// Redis has no round yet to which it could apply the pause.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_does_while_a_round_is_loaded_is_in_force_at_once() {
    let lab = Lab::publishing(terms(3, 1)).await;
    let (read, stock) = (lab.round().await, lab.stock.clone());
    let ledger = lab.meanwhile("Query", |ledger| async move {
        let id = round(SALE, 1);
        rounds::change(&ledger, &id, |round| round.paused = true).await;
        stock.round(&id).amend(&ledger.round(&id).await.unwrap().unwrap()).await.unwrap();
    });
    let loading = load_round(&lab.stock, &ledger, &read, now()).await.unwrap();
    assert_eq!(loading, Loading::Loaded);
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(503, "paused");
}

#[tokio::test]
async fn one_broken_sale_does_not_stop_the_others() {
    let lab = Lab::new().await;
    // The first to close is loaded first.
    lab.publish("broken", &opening_in(-10)).await;
    let guard = [("pk", "UNIT#broken#1#1"), ("round_shard", "ROUND#broken#1#1")];
    let put = lab.dynamodb.put_item().table_name(&lab.table).item("unit", AttributeValue::N("1".into()));
    let put = guard.iter().fold(put, |put, (name, value)| put.item(*name, AttributeValue::S((*value).into())));
    put.send().await.unwrap();
    assert!(warmup::handle(&lab.warmup()).await.is_err(), "no sale at all: the run fails");

    lab.publish("whole", &opening_in(-9)).await;
    assert_eq!(run(&lab).await, WarmupSummary { loaded: 1, failed: 1, ..WarmupSummary::default() });
    lab.answer(&Ask::reserve("whole", "alice")).await.expect(202);
    lab.answer(&Ask::reserve("broken", "alice")).await.problem(503, "overloaded");

    lab.delete_item("UNIT#broken#1#1").await;
    assert_eq!(run(&lab).await, WarmupSummary { loaded: 1, present: 1, ..WarmupSummary::default() });
    lab.answer(&Ask::reserve("broken", "alice")).await.expect(202);
}
