//! What a process knows of the ledger without asking it, what that costs, and that no change is lost on the way.

use aws_sdk_dynamodb::config::Intercept;
use aws_sdk_dynamodb::operation::query::QueryInput;
use metrics_util::debugging::DebugValue;
use process::Snapshots;

use crate::calls::Call;
use crate::hooks::of_input;
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

fn ledger_with(lab: &Lab, interceptor: impl Intercept + 'static) -> Ledger {
    let config = lab.dynamodb.config().to_builder().interceptor(interceptor).build();
    Ledger::new(DynamoDb::from_conf(config), &lab.table)
}

async fn publish(lab: &Lab, sale: &str) {
    rounds::draft(&lab.ledger, sale, &terms(5, 1), None).await;
    rounds::publish(&lab.ledger, sale).await;
}

#[tokio::test]
async fn a_list_has_all_its_pages() {
    let lab = Lab::new().await;
    let tiny_pages = of_input(|context| {
        if let Some(query) = context.input_mut().downcast_mut::<QueryInput>() {
            query.limit = Some(1);
        }
    });
    let paged = ledger_with(&lab, tiny_pages);
    for number in 0..12 {
        publish(&lab, &format!("lamp-{number}")).await;
        let id = format!("campaign-{number}").parse().unwrap();
        let campaign =
            Campaign { id, title: "A campaign".to_owned(), sale_ids: Vec::new(), limit_per_user: None, version: 1 };
        lab.ledger.put_campaign(&campaign).await.unwrap();
    }
    assert_eq!(paged.published_rounds(EpochMs(0)).await.unwrap().len(), 12);
    assert_eq!(paged.campaigns().await.unwrap().len(), 12);
    assert_eq!(paged.rounds_over(EpochMs(0), EpochMs(i64::MAX)).await.unwrap().len(), 12);
}

/// A process that has the sale at hand, and one that has just started.
#[tokio::test]
async fn a_change_reaches_every_process_and_no_concurrent_one_is_lost() {
    let lab = Lab::new().await;
    let sales = ["lamp", "vase"].map(|sale| sale.parse::<SaleId>().unwrap());
    for sale in &sales {
        publish(&lab, sale.as_str()).await;
    }
    let knows = Snapshots::new(lab.ledger.clone(), PATIENT);
    for sale in &sales {
        knows.of(sale).await.unwrap();
    }
    let rename = async |sale: &SaleId, title: &str| {
        let id = rounds::latest_round(&lab.ledger, sale).await.id;
        rounds::change(&lab.ledger, &id, |round| round.terms.title = title.to_owned()).await;
    };
    for title in ["Better", "Better still"] {
        join_all(sales.iter().map(|sale| rename(sale, title))).await;
    }
    assert_eq!(lab.ledger.recent_changes().await.unwrap().version, 6, "each change is counted");
    let started = Snapshots::new(lab.ledger.clone(), PATIENT);
    knows.refresh().await.unwrap();
    for snapshots in [&knows, &started] {
        for sale in &sales {
            let snapshot = snapshots.of(sale).await.unwrap();
            assert_eq!(snapshot.sale(sale).unwrap().round.terms.title, "Better still");
        }
    }
    publish(&lab, "chair").await;
    knows.refresh().await.unwrap();
    assert!(knows.of(&"chair".parse().unwrap()).await.unwrap().sale(&"chair".parse().unwrap()).is_some());
}

/// The catalog shows everything, and reads what has changed.
#[tokio::test]
async fn the_catalog_reads_each_sale_once() {
    let lab = Lab::new().await;
    for number in 0..20 {
        publish(&lab, &format!("lamp-{number}")).await;
        lab.load(&format!("lamp-{number}")).await;
    }
    let (calls, (clock, moved_ms)) = (Calls::default(), movable_clock());
    let process = lab.another_process_at(clock).with(ledger_with(&lab, calls.hook()));
    let catalog = catalog::CatalogDeps::new(&process).unwrap();
    let count = async || shown(&catalog, "/v1/sales").await.body["sales"].as_array().unwrap().len();
    assert_eq!(count().await, 20);
    moved_ms.fetch_add(20_000, Ordering::Relaxed);
    count().await;
    calls.take();
    publish(&lab, "chair").await;
    for _ in 0..3 {
        moved_ms.fetch_add(3_000, Ordering::Relaxed);
        assert_eq!(count().await, 21);
    }
    let read = |call: &Call| {
        let body = call.body.to_string();
        body.contains("sales_by_close") || body.contains("ROUND#lamp")
    };
    assert_eq!(calls.take().iter().filter(|call| read(call)).count(), 0);
}
