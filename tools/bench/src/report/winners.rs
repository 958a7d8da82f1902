//! Winners through the reservation function: a slow message to the queue may hold up only its own request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, in_turns};
use super::measured::Report;
use super::shop::{Shop, closed_by};

/// Delay of the queue.
const SQS: Duration = Duration::from_millis(5);
/// Concurrent requests: enough that waiting for the queue is not the bottleneck.
const ENOUGH: usize = 256;
const OF_THE_WINNER: f64 = 0.9;

/// Winners, with a slow queue and with a fast one.
pub(crate) async fn measure(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
    let served = Arc::new(shop.serve("reservation", 1, ENOUGH).await?);
    let stage = Stage::steps("Winners, to the 202", effort.rounds + 1);
    let won = async |round: usize, delay: Duration| {
        let requests = shop.requests(&format!("winner-{round}-{}", delay.as_millis()), effort.requests)?;
        shop.stock(effort.requests as u32).await?;
        shop.aws.delay(delay);
        shop.aws.take_asked();
        let load = closed_by(&served, ENOUGH, requests, "202").await?;
        let sent = shop.aws.take_asked().operations.get("SendMessage").copied().unwrap_or_default();
        ensure!(sent == effort.requests, "{sent} messages for {} units", effort.requests);
        anyhow::Ok(load.throughput())
    };
    let both = async |round| anyhow::Ok([won(round, SQS).await?, won(round, Duration::ZERO).await?]);
    let [late, at_once] = in_turns(effort.rounds, &stage, both).await?;
    shop.aws.delay(Duration::ZERO);
    let what = format!("winners, to the 202, with an SQS that answers in {} ms, {ENOUGH} at once", SQS.as_millis());
    let line = Line::rates("winners_late_queue", what, "an SQS that answers at once", [&late, &at_once], "winners/s")
        .at_least(OF_THE_WINNER);
    stage.done(line.value());
    report.lines.push(line);
    Ok(())
}
