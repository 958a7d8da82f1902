//! The built functions under load: what they add to the call to Redis and to a function that does nothing, and what a
//! winner costs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use load::measure::Load;
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, in_turns, median};
use super::measured::Report;
use super::rivals::{Ring, Rival, SALE};
use super::shop::{CONCURRENCY, PROBES, Refusal, Shop, closed_by};

/// Processes in Lambda's classic mode, where each takes one request at a time.
const CLASSIC: usize = 8;

/// Delay of the queue.
const SQS: Duration = Duration::from_millis(5);
/// Concurrent requests: enough that waiting for the queue is not the bottleneck.
const ENOUGH: usize = 256;

const OF_THE_CALL: f64 = 0.5;
const OF_NOTHING: f64 = 0.65;
const OF_NOTHING_MARKED: f64 = 0.90;
const OF_THE_WINNER: f64 = 0.9;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    sold_out(&shop, effort, report).await?;
    winners(&shop, effort, report).await
}

async fn sold_out(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
    let concurrent = Arc::new(shop.serve("reservation", 1, CONCURRENCY).await?);
    let classic = Arc::new(shop.serve("reservation", CLASSIC, 1).await?);
    let nothing = Arc::new(shop.serve("noop", 1, CONCURRENCY).await?);
    shop.stock(0).await?;
    let count = effort.requests;
    let stage = Stage::steps("Functions, sold out", 2 * (effort.rounds + 1));
    // All passes are from when the sale was open. The mark does not cover buyers, so each of their requests goes to Redis.
    let four = async |round: usize| {
        let buyers = shop.requests_of_buyers(count).await?;
        let crowd = shop.requests(&format!("new-{round}"), count)?;
        let by_redis = closed_by(&concurrent, CONCURRENCY, buyers.clone(), "409");
        let loads = [
            shop.refused(Refusal::Redis, count, by_redis).await?,
            evalsha(shop, count).await?,
            closed_by(&nothing, CONCURRENCY, crowd, "200").await?,
            closed_by(&classic, CONCURRENCY, buyers, "409").await?,
        ];
        anyhow::Ok(loads.map(|load| load.throughput()))
    };
    let [asked, bare, empty, one_each] = in_turns(effort.rounds, &stage, four).await?;
    // A new process that knows none of these buyers: the old one would read them again within a minute.
    let marking = Arc::new(shop.serve("reservation", 1, CONCURRENCY).await?);
    shop.stock(0).await?;
    let probes = shop.requests("probe", PROBES)?;
    shop.until_refused(Refusal::Mark, |n: usize| marking.ask(probes[n].clone(), "409")).await?;
    let two = async |round: usize| {
        let crowd = shop.requests(&format!("later-{round}"), count)?;
        let by_mark = closed_by(&marking, CONCURRENCY, crowd.clone(), "409");
        let loads =
            [shop.refused(Refusal::Mark, count, by_mark).await?, closed_by(&nothing, CONCURRENCY, crowd, "200").await?];
        anyhow::Ok(loads.map(|load| load.throughput()))
    };
    let [marked, beside] = in_turns(effort.rounds, &stage, two).await?;
    stage.done(format!("{:.0} requests/s, {:.0} with the mark", median(&asked), median(&marked)));
    let line = |name, what: &str, against: &str, of: &[f64], to: &[f64]| {
        Line::rates(name, what, against, [of, to], "requests/s")
    };
    let (one_mb, all_mb) = (concurrent.resident_mb()?, classic.resident_mb()?);
    let mut concurrent_mode = line(
        "concurrent_mode",
        &format!("one process with {CONCURRENCY} requests at once, sold out in Redis"),
        &format!("{CLASSIC} processes with one each, the same binary"),
        &asked,
        &one_each,
    );
    concurrent_mode.measured += &format!("; {one_mb:.0} and {all_mb:.0} MB resident");
    let alone = "EVALSHA alone, as many at once, one connection of the same library";
    let nothing = "a function that does nothing";
    report.lines.extend([
        line("function_sold_out", "the reservation function, sold out in Redis", alone, &asked, &bare)
            .at_least(OF_THE_CALL),
        line("function_sold_out_nothing", "the same", nothing, &asked, &empty).at_least(OF_NOTHING),
        line("function_marked", "the reservation function, sold-out mark set", nothing, &marked, &beside)
            .at_least(OF_NOTHING_MARKED),
        concurrent_mode,
    ]);
    Ok(())
}

/// The call to Redis alone, on one shared connection as in a function's process.
async fn evalsha(shop: &Shop, count: usize) -> Result<Load> {
    let calls = (0..count).map(|n| shop.ring.call(Rival::Reserve, SALE, &format!("bare-{n}"))).collect();
    Ring::closed(vec![shop.ring.connection().await?; CONCURRENCY], calls, "sold_out").await
}

/// Winners, with a slow queue and with a fast one: a slow message may hold up only its own request.
async fn winners(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
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
