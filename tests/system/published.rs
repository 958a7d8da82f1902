//! What it costs a process to know what is for sale, and that no change is lost on the way.

use std::sync::atomic::Ordering;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::interceptors::BeforeSerializationInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::query::QueryInput;
use ledger::Ledger;
use process::Snapshots;
use sale::{Campaign, EpochMs};
use tests::terms;

use crate::calls::Calls;
use crate::lab::{Lab, movable_clock};
use crate::rounds;

/// Makes every page of a query one item long.
#[derive(Debug)]
struct TinyPages;

impl Intercept for TinyPages {
    fn name(&self) -> &'static str {
        "TinyPages"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(query) = context.input_mut().downcast_mut::<QueryInput>() {
            query.limit = Some(1);
        }
        Ok(())
    }
}

/// The lab's table through a client of its own.
fn ledger_with(lab: &Lab, interceptor: impl Intercept + 'static) -> Ledger {
    let config = lab.dynamodb.config().to_builder().interceptor(interceptor).build();
    Ledger::new(DynamoDb::from_conf(config), &lab.table)
}

async fn publish(lab: &Lab, sale: &str) {
    rounds::draft(&lab.ledger, sale, &terms(5, 1), None).await;
    rounds::publish(&lab.ledger, sale).await;
}

#[tokio::test]
async fn a_process_that_knows_what_is_for_sale_does_not_list_it_again() {
    let lab = Lab::new().await;
    for number in 0..20 {
        publish(&lab, &format!("lamp-{number}")).await;
    }
    let calls = Calls::default();
    let (clock, moved_ms) = movable_clock();
    let snapshots = Snapshots::new(ledger_with(&lab, calls.clone()), clock);
    snapshots.now().await.unwrap();
    moved_ms.fetch_add(20_000, Ordering::Relaxed);
    snapshots.refresh().await.unwrap();
    calls.take();
    for _ in 0..5 {
        moved_ms.fetch_add(3_000, Ordering::Relaxed);
        snapshots.refresh().await.unwrap();
    }
    let queries = calls.take_targets().iter().filter(|target| target.ends_with("Query")).count();
    assert_eq!(queries, 0, "queries in five readings");
}

#[tokio::test]
async fn a_list_has_all_its_pages() {
    let lab = Lab::new().await;
    let paged = ledger_with(&lab, TinyPages);
    for number in 0..12 {
        publish(&lab, &format!("lamp-{number}")).await;
        let id = format!("campaign-{number}").parse().unwrap();
        let campaign = Campaign { id, title: "A campaign".to_owned(), sale_ids: Vec::new(), limit_per_user: None, version: 1 };
        lab.ledger.put_campaign(&campaign).await.unwrap();
    }
    assert_eq!(paged.published_rounds(EpochMs(0)).await.unwrap().len(), 12);
    assert_eq!(paged.campaigns().await.unwrap().len(), 12);
    assert_eq!(paged.rounds_over(EpochMs(0), EpochMs(i64::MAX)).await.unwrap().len(), 12);
}
