//! What a process knows of the ledger without asking it.

use metrics_util::debugging::DebugValue;
use process::Snapshots;

use crate::metrics::measured;
use crate::prelude::*;

#[tokio::test]
async fn many_questions_are_one_reading() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.refresh_snapshots().await;
    lab.snapshot_calls.take();
    let began = Instant::now();
    for number in 0..50 {
        let challenge = Ask::post(format!("/v1/sales/nowhere-{number}/challenges")).by("alice");
        lab.answer(&challenge).await.problem(404, "unknown_sale");
    }
    let calls = lab.snapshot_calls.take();
    let readings = calls.iter().filter(|call| call.body.to_string().contains("CHANGES")).count();
    let time_for = began.elapsed().as_secs() + 1;
    assert!(readings as u64 <= time_for, "{readings} readings, but time for only {time_for}");
}

#[tokio::test]
async fn those_who_come_first_share_a_reading() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.calls.take();
    let snapshots = Snapshots::new(lab.ledger.clone(), PATIENT);
    let sale = SALE.parse().unwrap();
    let all = futures::future::try_join_all((0..20).map(|_| snapshots.of(&sale))).await.unwrap();
    assert_eq!(lab.calls.take().len(), 12, "kill switches, changes, eight lists; then changes again, and the round");
    assert!(all.iter().all(|snapshot| snapshot.sale(&sale).is_some()));
}

/// A throttled part of the table must not keep the others from being read.
#[tokio::test]
async fn what_cannot_be_read_does_not_hide_what_can() {
    let lab = Lab::selling(terms(5, 1)).await;
    let parts = Parts::patient(&lab).await;
    let snapshots = Snapshots::new(parts.ledger.clone(), PATIENT);
    snapshots.of(&SALE.parse().unwrap()).await.unwrap();
    parts.aws.set_for_those_with("CHANGES", Conduct::Fails);
    lab.ledger.stop(None).await.unwrap();
    let stopped =
        until("the stop is known", async || Some(snapshots.now().await.unwrap()).filter(|it| it.kill_switches.stopped));
    assert!(stopped.await.sale(&SALE.parse().unwrap()).is_some(), "the last known sales hold");
}

#[tokio::test]
async fn the_load_of_a_sale_is_told_as_a_share_of_its_plan() {
    let door = DoorTerms { planned_requests_per_s: Some(10), ..DoorTerms::default() };
    let lab = Lab::selling(Terms { door, ..terms(50, 1) }).await;
    for number in 0..30 {
        lab.answer(&Ask::reserve(SALE, &format!("user-{number}"))).await.expect(202);
    }
    let told = measured(async { lab.snapshots.report_demand() }).await;
    let [(name, labels, DebugValue::Histogram(values))] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&**name, &labels[..]), ("SaleLoad", &[SALE.to_owned()][..]));
    assert!((values.iter().map(|value| value.into_inner()).sum::<f64>() - 0.05).abs() < 1e-9, "{values:?}");
}
