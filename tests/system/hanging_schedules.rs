//! Schedules with more work than they can finish before Lambda ends them when parts are slow.

use crate::parts::{all_ended, as_lambda_would};
use crate::prelude::*;

/// More sales than a run has time for if it waits for each.
const SALES: usize = 40;
/// The functions' time limit, and how late DynamoDB is: a few of the sales fit in.
const RUN_TIMEOUT: Duration = Duration::from_secs(8);
const LATE: Duration = Duration::from_millis(300);
const _: () = assert!(LATE.as_millis() * SALES as u128 > RUN_TIMEOUT.as_millis());

async fn publish_many(lab: &Lab, terms: &Terms, recurrence: Option<&Recurrence>) {
    let ids: Vec<String> = (0..SALES).map(|number| format!("lamp-{number}")).collect();
    join_all(ids.iter().map(async |id| {
        rounds::draft(&lab.ledger, id, terms, recurrence).await;
        rounds::publish(&lab.ledger, id).await;
    }))
    .await;
}

async fn warmup_and_reconciliation_end_however_many_sales_wait_for_redis() {
    let lab = Lab::new().await;
    publish_many(&lab, &terms(10, 1), None).await;
    let parts = Parts::of(&lab).await;
    parts.redis.delay(Duration::MAX);
    let warmup = warmup::WarmupDeps { run_timeout: RUN_TIMEOUT, ..parts.start(warmup::WarmupDeps::new) };
    let reconciliation =
        reconciliation::ReconciliationDeps { run_timeout: RUN_TIMEOUT, ..parts.start(sending_at_once) };
    let sales = || "forty sales".to_owned();
    let ran = tokio::join!(
        as_lambda_would("warmup", sales(), RUN_TIMEOUT, warmup::handle(&warmup).map(drop)),
        as_lambda_would("reconciliation", sales(), RUN_TIMEOUT, reconciliation::handle(&reconciliation).map(drop)),
    );
    println!("{ran:?}");
    all_ended(&[ran.0, ran.1]);
    let summary = warmup::handle(&lab.warmup()).await.unwrap();
    assert_eq!((summary.loaded, summary.failed), (SALES, 0), "all are loaded once Redis answers");
}

async fn daily_reset_ends_however_many_rounds_are_over() {
    let lab = Lab::new().await;
    let over = rounds::from_to(-7260, -3600, terms(10, 1));
    publish_many(&lab, &over, Some(&Recurrence::daily("Europe/Berlin").unwrap())).await;
    let parts = Parts::of(&lab).await;
    parts.aws.set(Service::DynamoDb, Conduct::AnswersAfter(LATE));
    let deps =
        daily_reset::DailyResetDeps { run_timeout: RUN_TIMEOUT, ..parts.start(daily_reset::DailyResetDeps::new) };
    // On a busy machine a run may fail, or be over, before its first round.
    let begun = until("a run begins rounds", async || {
        let mut begun = 0;
        let ran = as_lambda_would("daily_reset", "forty rounds".to_owned(), RUN_TIMEOUT, async {
            begun = daily_reset::handle(&deps).await.map_or(0, |summary| summary.begun);
        })
        .await;
        println!("{ran:?}, {begun} rounds begun");
        all_ended(&[ran]);
        (begun > 0).then_some(begun)
    })
    .await;
    assert!(begun < SALES, "{begun} rounds begun: the run must be cut off midway");
    let rest = daily_reset::handle(&lab.daily_reset()).await.unwrap();
    assert_eq!(rest.failed, 0);
    let rounds = lab.ledger.published_rounds(now()).await.unwrap();
    // A call that was cut off may have begun its round all the same.
    let second = rounds.iter().filter(|round| round.id.number == RoundNumber(2)).count();
    assert_eq!(second, SALES, "the next run continues where this one stopped");
}

/// One test, so that they wait concurrently.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_waits_for_the_next_run() {
    tokio::join!(
        warmup_and_reconciliation_end_however_many_sales_wait_for_redis(),
        daily_reset_ends_however_many_rounds_are_over(),
    );
}
