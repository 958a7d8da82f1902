//! The numbers that reconciliation publishes.

use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::prelude::*;

/// What this work publishes: each metric's name and labels, and its value.
pub(crate) async fn measured(work: impl Future<Output = ()>) -> Vec<(String, Vec<String>, DebugValue)> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    {
        let _guard = metrics::set_default_local_recorder(&recorder);
        work.await;
    }
    let measured = snapshotter.snapshot().into_vec().into_iter().map(|(key, _, _, value)| {
        let labels = key.key().labels().map(|label| label.value().to_owned());
        (key.key().name().to_owned(), labels.collect(), value)
    });
    measured.collect()
}

async fn published(lab: &Lab) -> BTreeMap<String, f64> {
    let numbers = measured(async { drop(lab.reconcile().await) }).await.into_iter().map(|(name, labels, value)| {
        let DebugValue::Gauge(value) = value else { panic!("{name} is not a gauge") };
        ([vec![name], labels].concat().join(" "), value.into_inner())
    });
    numbers.collect()
}

#[tokio::test]
async fn every_unit_is_counted_where_it_is() {
    let lab = Lab::selling(terms(10, 1)).await;
    lab.buy("alice").await;
    lab.buy("bob").await;
    lab.reserve("carol").await;
    let numbers = published(&lab).await;
    let of_round = ["UnitsFree", "UnitsHeld", "UnitsOrdered", "UnitsAdrift"].map(|name| format!("{name} lamp.1"));
    assert_eq!(of_round.map(|name| numbers[&name]), [7.0, 1.0, 2.0, 0.0]);
    let none = ["UnitsOversold", "UnitsAdrift", "Repairs", "ReconciliationFailures"];
    assert_eq!(none.map(|name| numbers[name]), [0.0; 4]);
    assert_eq!(numbers["MessagesSentAgain"], 1.0, "carol's");

    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "carol"]).await;
    let in_no_place = ["UnitsAdrift lamp.1", "UnitsAdrift", "Repairs"];
    let numbers = published(&lab).await;
    assert_eq!(in_no_place.map(|name| numbers[name]), [1.0; 3], "carol's unit");
    let numbers = published(&lab).await;
    assert_eq!(in_no_place.map(|name| numbers[name]), [0.0; 3], "it is back");
    assert_eq!(numbers["UnitsFree lamp.1"], 8.0);
}
