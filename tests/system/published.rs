//! What it costs a process to know what is for sale, and that no change is lost on the way.

use aws_sdk_dynamodb::config::Intercept;
use aws_sdk_dynamodb::operation::query::QueryInput;
use process::Snapshots;

use crate::calls::Call;
use crate::hooks::of_input;
use crate::prelude::*;

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
