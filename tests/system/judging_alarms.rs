//! What reconciliation reports to the alarms while people buy: Redis and the ledger are read one after the other, and
//! indexes lag.

use fulfilment::{Expire, UnitCounts, expire, list};
use local::lagging::LaggingIndexes;

use crate::prelude::*;

/// Longer than any payment window.
const LATER_MS: i64 = 2_000_000;

async fn counts(lab: &Lab, ledger: &Ledger) -> UnitCounts {
    list(&lab.stock, ledger, &round(SALE, 1), 1).await.unwrap().expect("Redis has it").counts
}

#[tokio::test]
async fn while_an_index_lags_an_expired_order_and_its_successor_are_no_oversell_and_two_live_orders_are() {
    let lab = Lab::selling(terms(1, 1)).await;
    let alice = lab.buy("alice").await;
    let deployment = &cloud().await.deployment;
    let proxy = LaggingIndexes::start(&deployment.endpoint, Duration::MAX);
    let config = deployment.patient_aws_config().into_builder().endpoint_url(proxy.endpoint()).build();
    let lagging = Ledger::new(DynamoDb::new(&config), &lab.table);
    assert_eq!(counts(&lab, &lagging).await.ordered, 1);
    let later = Clock::ahead_by_ms(LATER_MS).now();
    let ended = expire(&lab.stock, &lab.ledger, &alice.id, later).await.unwrap();
    assert!(matches!(ended, Expire::Expired(_)), "{ended:?}");
    let bob = lab.buy("bob").await;
    let live = lagging.live_orders(&round(SALE, 1)).await.unwrap();
    assert!([&alice.id, &bob.id].iter().all(|id| live.iter().any(|order| order.id == **id)), "the index lags");
    let UnitCounts { oversold, lost, duplicated, .. } = counts(&lab, &lagging).await;
    assert_eq!((oversold, lost, duplicated), (0, 0, 0));
    lab.put_second_order(&bob).await;
    assert_eq!(counts(&lab, &lagging).await.oversold, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_really_wrong_counts_while_another_unit_moves() {
    let lab = Lab::selling(terms(4, 1)).await;
    let (alice, stock) = (lab.buy("alice").await, lab.stock.clone());
    let [bob, carol] = [lab.buy("bob").await, lab.reserve("carol").await];
    lab.delete_item(&format!("UNIT#{SALE}#1#{}", bob.unit)).await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", carol.user.as_str()]).await;
    lab.redis(&["ZADD", "free:{lamp:1:0}", "4", "4-4"]).await;
    let ledger = lab.meanwhile("Query", move |ledger| async move {
        expire(&stock, &ledger, &alice.id, Clock::ahead_by_ms(LATER_MS).now()).await.unwrap();
    });
    let counts = counts(&lab, &ledger).await;
    assert_eq!((counts.lost, counts.duplicated, counts.oversold), (2, 1, 0), "{counts:?}");
}
