//! The built functions under load: what they add to the call to Redis and to a function that does nothing, and what a
//! winner costs.

use std::sync::Arc;

use anyhow::{Result, ensure};
use load::measure::{Load, closed};
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, Reach, Unit, median};
use super::measured::Report;
use super::rivals::{Rival, SALE};
use super::scripts::ratios;
use super::shop::{CONCURRENCY, PROBES, Refusal, Shop, closed_by};
use super::{rates, winners};

/// Processes in Lambda's classic mode, where each takes one request at a time.
const CLASSIC: usize = 8;

const OF_THE_CALL: f64 = 0.5;
const OF_NOTHING: f64 = 0.65;
const OF_NOTHING_MARKED: f64 = 0.90;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    sold_out(&shop, effort, report).await?;
    rates::measure(&shop, effort, report).await?;
    winners::measure(&shop, effort, report).await
}

async fn sold_out(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
    let concurrent = Arc::new(shop.serve("reservation", 1, CONCURRENCY).await?);
    let classic = Arc::new(shop.serve("reservation", CLASSIC, 1).await?);
    let nothing = Arc::new(shop.serve("noop", 1, CONCURRENCY).await?);
    shop.stock(0).await?;
    let [mut asked, mut empty, mut bare, mut one_each] = [const { Vec::new() }; 4];
    let count = effort.requests;
    let stage = Stage::steps("Functions, sold out", 2 * (effort.rounds + 1));
    // All passes are from when the sale was open. The mark does not cover buyers, so each of their requests goes to Redis.
    for round in 0..=effort.rounds {
        let buyers = shop.requests_of_buyers(count).await?;
        let crowd = shop.requests(&format!("new-{round}"), count)?;
        let by_redis = closed_by(&concurrent, CONCURRENCY, buyers.clone(), "409");
        let loads = [
            shop.refused(Refusal::Redis, count, by_redis).await?,
            evalsha(shop, count).await?,
            closed_by(&nothing, CONCURRENCY, crowd, "200").await?,
            closed_by(&classic, CONCURRENCY, buyers, "409").await?,
        ];
        if round > 0 {
            for (into, load) in [&mut asked, &mut bare, &mut empty, &mut one_each].into_iter().zip(loads) {
                into.push(load.throughput());
            }
        }
        stage.step();
    }
    // A new process that knows none of these buyers: the old one would read them again within a minute.
    let marking = Arc::new(shop.serve("reservation", 1, CONCURRENCY).await?);
    shop.stock(0).await?;
    let probes = shop.requests("probe", PROBES)?;
    shop.until_refused(Refusal::Mark, |n| marking.ask(probes[n].clone(), "409")).await?;
    let [mut marked, mut beside] = [const { Vec::new() }; 2];
    for round in 0..=effort.rounds {
        let crowd = shop.requests(&format!("later-{round}"), count)?;
        let by_mark = closed_by(&marking, CONCURRENCY, crowd.clone(), "409");
        let loads =
            [shop.refused(Refusal::Mark, count, by_mark).await?, closed_by(&nothing, CONCURRENCY, crowd, "200").await?];
        if round > 0 {
            [&mut marked, &mut beside].into_iter().zip(loads).for_each(|(into, load)| into.push(load.throughput()));
        }
        stage.step();
    }
    stage.done(format!("{:.0} requests/s, {:.0} with the mark", median(&asked), median(&marked)));
    let per_s = |of: &[f64], to: &[f64]| format!("{:.0} of {:.0} requests/s", median(of), median(to));
    let line = |name, what: String, against: &str, of: &[f64], to: &[f64], reach: Option<Reach>| Line {
        name,
        what,
        against: against.to_owned(),
        unit: Unit::Ratio,
        rounds: ratios(of, to),
        reach,
        measured: per_s(of, to),
    };
    report.lines.push(line(
        "function_sold_out",
        "the reservation function, sold out in Redis".to_owned(),
        "EVALSHA alone, as many at once, one connection of the same library",
        &asked,
        &bare,
        Some(Reach::AtLeast(OF_THE_CALL)),
    ));
    report.lines.push(line(
        "function_sold_out_nothing",
        "the same".to_owned(),
        "a function that does nothing",
        &asked,
        &empty,
        Some(Reach::AtLeast(OF_NOTHING)),
    ));
    report.lines.push(line(
        "function_marked",
        "the reservation function, sold-out mark set".to_owned(),
        "a function that does nothing",
        &marked,
        &beside,
        Some(Reach::AtLeast(OF_NOTHING_MARKED)),
    ));
    let (one_mb, all_mb) = (concurrent.resident_mb()?, classic.resident_mb()?);
    report.lines.push(Line {
        measured: format!("{}; {one_mb:.0} and {all_mb:.0} MB resident", per_s(&asked, &one_each)),
        ..line(
            "concurrent_mode",
            format!("one process with {CONCURRENCY} requests at once, sold out in Redis"),
            &format!("{CLASSIC} processes with one each, the same binary"),
            &asked,
            &one_each,
            None,
        )
    });
    Ok(())
}

/// The call to Redis alone, on one shared connection as in a function's process.
async fn evalsha(shop: &Shop, count: usize) -> Result<Load> {
    let calls: Vec<_> = (0..count).map(|n| shop.ring.call(Rival::Reserve, SALE, &format!("bare-{n}"))).collect();
    let (connection, calls) = (shop.ring.connection().await?, Arc::new(calls));
    let ask = move |_, n: usize| {
        let (mut connection, calls) = (connection.clone(), Arc::clone(&calls));
        async move {
            let answer: String = calls[n].query_async(&mut connection).await?;
            ensure!(answer.starts_with("sold_out"), "{answer}");
            Ok(())
        }
    };
    closed(CONCURRENCY, count, ask).await
}
