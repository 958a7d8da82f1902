//! What each kind of answer costs in calls, compared with the least that the design needs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::body::Bytes;
use futures::future::try_join_all;
use local::stages::Stage;

use super::allocations::{Handler, WARM, of_nothing};
use super::effort::Effort;
use super::measured::{Cost, Report};
use super::orders::{BATCH, batch, order};
use super::shop::{CONCURRENCY, Served, Shop};
use crate::calls::redis_calls;

/// Requests of each kind.
const SAMPLES: usize = 100;
/// An order, its unit's guard and its slot's guard, each below 1 KB, doubled for the transaction.
const ORDER_WRITE_UNITS: f64 = 6.0;

/// Refusals before the measured ones, and the time between two: enough for the process to read the buyers.
const REFUSED_BEFORE: usize = 3;
const READING: Duration = Duration::from_millis(300);

/// Refusals by Redis before the measured one.
const REFUSED: usize = 50;

/// Requests of one kind, and how many calls to Redis and messages each must cost.
struct Kind {
    answer: &'static str,
    requests: Vec<Bytes>,
    status: &'static str,
    needs: [f64; 2],
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    let served = shop.serve("reservation", 1, CONCURRENCY).await?;
    let stage = Stage::spinner("Calls for each answer");
    shop.stock(SAMPLES as u32 + 1).await?;
    // The first request of a process connects and reads the sales and the keys.
    served.ask(first(&shop, "opener")?, "202").await?;

    let winners = shop.requests("winner", SAMPLES)?;
    let again = winners.clone();
    let other_key = shop.requests_with("another-key", "winner", SAMPLES)?;
    let kind = |answer, requests, status, needs| Kind { answer, requests, status, needs };
    let before = [kind("202, a unit", winners, "202", [1.0, 1.0]), kind("202, said again", again, "202", [1.0, 1.0])];
    for kind in before {
        report.costs.push(cost(&shop, &served, kind).await?);
    }
    let buyers = shop.requests_of_buyers(SAMPLES).await?;
    // The first refusals make the process read the buyers.
    for n in 0..REFUSED_BEFORE {
        served.ask(first(&shop, &format!("early-{n}"))?, "409").await?;
        tokio::time::sleep(READING).await;
    }
    let forged = shop.requests("forger", SAMPLES)?.iter().map(forge).collect();
    let kinds = [
        kind("409 limit_reached", other_key, "409", [1.0, 0.0]),
        kind("409 sold_out, asked", buyers, "409", [1.0, 0.0]),
        // Right after those that went to Redis, so the mark is still set.
        kind("409 sold_out, marked", shop.requests("later", SAMPLES)?, "409", [0.0, 0.0]),
        kind("403 bad_token", forged, "403", [0.0, 0.0]),
    ];
    for kind in kinds {
        report.costs.push(cost(&shop, &served, kind).await?);
    }
    report.costs.push(an_order(&shop).await?);
    allocations(&shop, report).await?;
    stage.done(format!("{} kinds, each as cheap as it can be", report.costs.len()));
    Ok(())
}

/// The same kinds again, in this process.
async fn allocations(shop: &Shop, report: &mut Report) -> Result<()> {
    let count = WARM + 1;
    shop.stock(count as u32).await?;
    let winners = shop.requests("counted", count)?;
    report.allocations_of_nothing = of_nothing(&winners[0])?;
    let (redis_url, endpoint) = (shop.ring.valkey.url(), shop.aws.endpoint());
    let counting = move || {
        let handler = Handler::new(&redis_url, &endpoint)?;
        handler.count(&winners, 202).map(|allocations| (handler, allocations))
    };
    let (handler, won) = tokio::task::spawn_blocking(counting).await??;
    let (asked, marked) = (shop.requests_of_buyers(REFUSED).await?, shop.requests("later", count)?);
    let early = shop.requests("early", REFUSED_BEFORE)?;
    let counting = move || {
        let asked = handler.count(&asked, 409)?;
        // By then it has read the buyers.
        for request in early.chunks(1) {
            handler.count(request, 409)?;
            handler.rest(READING);
        }
        let marked = handler.count(&marked, 409)?;
        ensure!(marked < asked, "{marked} allocations with the mark, and {asked} without");
        anyhow::Ok((asked, marked))
    };
    let (asked, marked) = tokio::task::spawn_blocking(counting).await??;
    for (answer, allocations) in
        [("202, a unit", won), ("409 sold_out, asked", asked), ("409 sold_out, marked", marked)]
    {
        let cost = report.costs.iter_mut().find(|cost| cost.answer == answer).context("a kind of answer")?;
        cost.allocations = Some(allocations);
    }
    Ok(())
}

fn first(shop: &Shop, user: &str) -> Result<Bytes> {
    shop.requests(user, 1)?.pop().context("a request")
}

/// The same request with a forged pass.
fn forge(event: &Bytes) -> Bytes {
    String::from_utf8_lossy(event).replace("/reservations/", "/reservations/x").into()
}

async fn cost(shop: &Shop, served: &Served, kind: Kind) -> Result<Cost> {
    shop.aws.take_asked();
    let Kind { answer, requests, status, needs } = kind;
    let count = requests.len() as f64;
    let asking = try_join_all(requests.into_iter().map(|request| served.ask(request, status)));
    let redis = redis_calls(&shop.ring.valkey.url(), asking).await? as f64 / count;
    let asked = shop.aws.take_asked();
    let sqs = asked.operations.get("SendMessage").copied().unwrap_or_default() as f64 / count;
    ensure!([redis, sqs] == needs, "{answer} costs {redis} calls to Redis and {sqs} messages, and needs {needs:?}");
    Ok(Cost { answer, redis: [redis, needs[0]], sqs: [sqs, needs[1]], write_units: [0.0; 2], allocations: None })
}

/// One order of a batch: the guards and the order, the mark in Redis, and the message that expires it.
async fn an_order(shop: &Shop) -> Result<Cost> {
    let served = shop.serve("order", 1, 1).await?;
    shop.stock(1_000).await?;
    // The first batch reads the terms and loads the script.
    order(&served, batch(shop, BATCH).await?).await?;
    let event = batch(shop, BATCH).await?;
    shop.aws.take_asked();
    let count = BATCH as f64;
    let redis = redis_calls(&shop.ring.valkey.url(), order(&served, event)).await? as f64 / count;
    let asked = shop.aws.take_asked();
    let sqs = asked.operations.get("SendMessage").copied().unwrap_or_default() as f64 / count;
    let units = asked.write_units as f64 / count;
    ensure!(
        [redis, sqs, units] == [1.0, 1.0, ORDER_WRITE_UNITS],
        "an order costs {asked:?} and {redis} calls to Redis"
    );
    let write_units = [units, ORDER_WRITE_UNITS];
    Ok(Cost { answer: "an order", redis: [redis, 1.0], sqs: [sqs, 1.0], write_units, allocations: None })
}
