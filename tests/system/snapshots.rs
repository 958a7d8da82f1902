//! What a process knows of the ledger without asking it.

use process::Snapshots;

use crate::prelude::*;

/// How old a snapshot must be to be read again beside the requests.
const FRESH_MS: i64 = 2_000;

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
    let readings = lab.snapshot_calls.take_targets().iter().filter(|target| target.ends_with("Query")).count();
    let time_for = began.elapsed().as_secs() + 1;
    assert!(readings as u64 <= time_for, "{readings} readings, but time for only {time_for}");
}

#[tokio::test]
async fn those_who_come_first_share_a_reading() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.calls.take();
    let snapshots = Snapshots::new(lab.ledger.clone(), Clock::system());
    let sale = SALE.parse().unwrap();
    let all = futures::future::try_join_all((0..20).map(|_| snapshots.of(&sale))).await.unwrap();
    assert_eq!(lab.calls.take().len(), 12, "kill switches, changes, eight lists; then changes again, and the round");
    assert!(all.iter().all(|snapshot| snapshot.sale(&sale).is_some()));
}

#[tokio::test]
async fn what_others_change_is_known_within_seconds() {
    let lab = Lab::selling(terms(5, 1)).await;
    let (clock, moved_ms) = movable_clock();
    let snapshots = Snapshots::new(lab.ledger.clone(), clock);
    assert!(!snapshots.now().await.unwrap().kill_switches.stopped);
    lab.ledger.stop(None).await.unwrap();
    moved_ms.store(FRESH_MS, Ordering::Relaxed);
    until("the stop is known", async || snapshots.now().await.unwrap().kill_switches.stopped.then_some(())).await;
}

/// Lambda froze the process: its monotonic clock stood still, but the wall clock did not.
#[tokio::test]
async fn whoever_comes_after_a_pause_waits_for_what_holds_now() {
    let lab = Lab::selling(terms(5, 1)).await;
    let (clock, moved_ms) = movable_clock();
    let snapshots = Snapshots::new(lab.ledger.clone(), clock);
    for (pause_s, stopped) in [(20, true), (40, false), (3600, true)] {
        snapshots.refresh().await.unwrap();
        let to = if stopped { lab.ledger.stop(None).await } else { lab.ledger.start(None).await };
        assert_eq!(to.unwrap().stopped, stopped);
        moved_ms.fetch_add(pause_s * 1000, Ordering::Relaxed);
        lab.calls.take();
        let all = futures::future::try_join_all((0..20).map(|_| snapshots.now())).await.unwrap();
        assert!(all.iter().all(|snapshot| snapshot.kill_switches.stopped == stopped), "after {pause_s} s");
        let read = lab.calls.take_targets().iter().filter(|target| target.ends_with(".GetItem")).count();
        assert_eq!(read, 2, "one read of the changes and one of the kill switches serve all");
    }
}

/// A throttled part of the table must not keep the others from being read.
#[tokio::test]
async fn what_cannot_be_read_does_not_hide_what_can() {
    let lab = Lab::selling(terms(5, 1)).await;
    let parts = Parts::of(&lab).await;
    let snapshots = Snapshots::new(parts.ledger.clone(), Clock::system());
    snapshots.of(&SALE.parse().unwrap()).await.unwrap();
    parts.aws.throttle_those_with("CHANGES");
    lab.ledger.stop(None).await.unwrap();
    let stopped =
        until("the stop is known", async || Some(snapshots.now().await.unwrap()).filter(|it| it.kill_switches.stopped));
    assert!(stopped.await.sale(&SALE.parse().unwrap()).is_some(), "the last known sales hold");
}

/// While the ledger does not answer, it is asked about once a second, and its last answer holds for minutes, not for
/// ever.
#[tokio::test]
async fn what_cannot_be_read_holds_for_minutes() {
    let lab = Lab::selling(terms(5, 1)).await;
    let parts = Parts::of(&lab).await;
    let (clock, moved_ms) = movable_clock();
    let snapshots = Snapshots::new(parts.ledger.clone(), clock);
    snapshots.of(&SALE.parse().unwrap()).await.unwrap();
    parts.aws.set(Service::DynamoDb, Conduct::Fails);
    moved_ms.store(4 * 60 * 1000, Ordering::Relaxed);
    for _ in 0..50 {
        assert!(snapshots.now().await.unwrap().sale(&SALE.parse().unwrap()).is_some());
    }
    moved_ms.store(6 * 60 * 1000, Ordering::Relaxed);
    assert!(snapshots.now().await.is_err(), "the last answer is too old");
    parts.aws.set(Service::DynamoDb, Conduct::Answers);
    until("the ledger is read again", async || snapshots.now().await.ok()).await;
}

#[tokio::test]
async fn without_the_ledger_what_was_known_holds_and_nobody_waits() {
    let lab = Lab::selling(terms(5, 1)).await;
    let parts = Parts::of(&lab).await;
    let (clock, moved_ms) = movable_clock();
    let snapshots = Snapshots::new(parts.ledger.clone(), clock);
    snapshots.of(&SALE.parse().unwrap()).await.unwrap();
    parts.aws.set(Service::DynamoDb, Conduct::Hangs);
    moved_ms.store(FRESH_MS, Ordering::Relaxed);
    for _ in 0..100 {
        let known = snapshots.now().now_or_never().expect("at once").unwrap();
        assert!(known.sale(&SALE.parse().unwrap()).is_some());
    }
    let empty = Snapshots::new(parts.ledger.clone(), Clock::system());
    assert!(empty.now().await.is_err(), "nothing is known");
}

#[tokio::test]
async fn the_load_of_a_sale_is_told_as_a_share_of_its_plan() {
    let door = DoorTerms { planned_requests_per_s: Some(10), ..DoorTerms::default() };
    let lab = Lab::selling(Terms { door, ..terms(50, 1) }).await;
    for number in 0..30 {
        lab.answer(&Ask::reserve(SALE, &format!("user-{number}"))).await.expect(202);
    }
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || lab.snapshots.report_demand());
    let told = snapshotter.snapshot().into_vec();
    let [(key, .., metrics_util::debugging::DebugValue::Histogram(values))] = &told[..] else { panic!("{told:?}") };
    assert_eq!(key.key().name(), "SaleLoad");
    assert_eq!(key.key().labels().map(metrics::Label::value).collect::<Vec<_>>(), [SALE]);
    assert!((values.iter().map(|value| value.into_inner()).sum::<f64>() - 0.05).abs() < 1e-9, "{values:?}");
}
