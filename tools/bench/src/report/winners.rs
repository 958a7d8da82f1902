//! Winners through the reservation function: a slow message to the queue may hold up only its own request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, Reach, Unit, median};
use super::measured::Report;
use super::scripts::ratios;
use super::shop::{Shop, closed_by};

/// Delay of the queue.
const SQS: Duration = Duration::from_millis(5);
/// Concurrent requests: enough that waiting for the queue is not the bottleneck.
const ENOUGH: usize = 256;
const OF_THE_WINNER: f64 = 0.9;

/// Winners, with a slow queue and with a fast one.
pub(crate) async fn measure(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
    let served = Arc::new(shop.serve("reservation", 1, ENOUGH).await?);
    let (mut late, mut at_once) = (Vec::new(), Vec::new());
    let stage = Stage::steps("Winners, to the 202", effort.rounds + 1);
    for round in 0..=effort.rounds {
        for (delay, into) in [(SQS, &mut late), (Duration::ZERO, &mut at_once)] {
            let requests = shop.requests(&format!("winner-{round}-{}", delay.as_millis()), effort.requests)?;
            shop.stock(effort.requests as u32).await?;
            shop.aws.delay(delay);
            shop.aws.take_asked();
            let load = closed_by(&served, ENOUGH, requests, "202").await?;
            let sent = shop.aws.take_asked().operations.get("SendMessage").copied().unwrap_or_default();
            ensure!(sent == effort.requests, "{sent} messages for {} units", effort.requests);
            if round > 0 {
                into.push(load.throughput());
            }
        }
        stage.step();
    }
    shop.aws.delay(Duration::ZERO);
    let line = Line {
        name: "winners_late_queue",
        what: format!("winners, to the 202, with an SQS that answers in {} ms, {ENOUGH} at once", SQS.as_millis()),
        against: "an SQS that answers at once".to_owned(),
        unit: Unit::Ratio,
        rounds: ratios(&late, &at_once),
        reach: Some(Reach::AtLeast(OF_THE_WINNER)),
        measured: format!("{:.0} of {:.0} winners/s", median(&late), median(&at_once)),
    };
    stage.done(line.value());
    report.lines.push(line);
    Ok(())
}
