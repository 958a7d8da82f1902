//! What each kind of answer costs in calls, compared with the least that the design needs.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use axum::body::Bytes;
use futures::StreamExt;
use futures::future::try_join_all;
use local::stages::Stage;
use uuid::Uuid;

use super::allocations::{Handler, WARM, of_nothing};
use super::effort::Effort;
use super::measured::{Cost, Report};
use super::orders::{BATCH, batch, order};
use super::shop::{CONCURRENCY, Served, Shop};

/// Requests of each kind.
const SAMPLES: usize = 100;
/// An order, its unit's guard and its slot's guard, each below 1 KB, doubled for the transaction.
const ORDER_WRITE_UNITS: f64 = 6.0;

/// What a winner needs, and a refusal by Redis: calls to it, messages and write units.
const WON: [f64; 3] = [1.0, 1.0, 0.0];
const ASKED: [f64; 3] = [1.0, 0.0, 0.0];

/// Refusals before the measured ones, and the time between two: enough for the process to read the buyers.
const REFUSED_BEFORE: usize = 3;
const READING: Duration = Duration::from_millis(300);

/// Refusals by Redis before the measured one.
const REFUSED: usize = 50;

/// Each process flushes its answer counts to Redis once a second, independent of requests.
const BESIDE: &str = "\"answers:{";

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    let served = shop.serve("reservation", 1, CONCURRENCY).await?;
    let stage = Stage::spinner("Calls for each answer");
    shop.stock(SAMPLES as u32 + 1).await?;
    // The first request of a process connects and reads the sales and the keys.
    served.ask(first(&shop, "opener")?, "202").await?;

    let winners = shop.requests("winner", SAMPLES)?;
    let other_key = shop.requests_with("another-key", "winner", SAMPLES)?;
    for answer in ["202, a unit", "202, said again"] {
        report.costs.push(cost_of(&shop, &served, answer, winners.clone(), "202", WON).await?);
    }
    let buyers = shop.requests_of_buyers(SAMPLES).await?;
    // The first refusals make the process read the buyers.
    for n in 0..REFUSED_BEFORE {
        served.ask(first(&shop, &format!("early-{n}"))?, "409").await?;
        tokio::time::sleep(READING).await;
    }
    let forged = shop.requests("forger", SAMPLES)?.iter().map(forge).collect();
    let kinds = [
        ("409 limit_reached", other_key, "409", ASKED),
        ("409 sold_out, asked", buyers, "409", ASKED),
        // Right after those that went to Redis, so the mark is still set.
        ("409 sold_out, marked", shop.requests("later", SAMPLES)?, "409", [0.0; 3]),
        ("403 bad_token", forged, "403", [0.0; 3]),
    ];
    for (answer, requests, status, needs) in kinds {
        report.costs.push(cost_of(&shop, &served, answer, requests, status, needs).await?);
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

/// What requests with this answer cost: each needs this many calls to Redis, messages and write units.
async fn cost_of(
    shop: &Shop,
    served: &Served,
    answer: &'static str,
    requests: Vec<Bytes>,
    status: &'static str,
    needs: [f64; 3],
) -> Result<Cost> {
    let count = requests.len();
    let asking = try_join_all(requests.into_iter().map(|request| served.ask(request, status)));
    cost(shop, answer, count, asking, needs).await
}

/// One order of a batch: the guards and the order, the mark in Redis, and the message that expires it.
async fn an_order(shop: &Shop) -> Result<Cost> {
    let served = shop.serve("order", 1, 1).await?;
    shop.stock(1_000).await?;
    // The first batch reads the terms and loads the script.
    order(&served, batch(shop, BATCH).await?).await?;
    let event = batch(shop, BATCH).await?;
    cost(shop, "an order", BATCH, order(&served, event), [1.0, 1.0, ORDER_WRITE_UNITS]).await
}

/// What `work` costs for each of so many answers. Fails if that is not what they need.
async fn cost<T>(
    shop: &Shop,
    answer: &'static str,
    count: usize,
    work: impl Future<Output = Result<T>>,
    needs: [f64; 3],
) -> Result<Cost> {
    shop.aws.take_asked();
    let calls = redis_calls(&shop.ring.valkey.url(), work).await?;
    let asked = shop.aws.take_asked();
    let messages = asked.operations.get("SendMessage").copied().unwrap_or_default();
    let costs = [calls, messages, asked.write_units].map(|all| all as f64 / count as f64);
    ensure!(costs == needs, "{answer} costs {costs:?} calls to Redis, messages and write units, and needs {needs:?}");
    let [redis, sqs, write_units] = [0, 1, 2].map(|of| [costs[of], needs[of]]);
    Ok(Cost { answer, redis, sqs, write_units, allocations: None })
}

/// Counts the calls that the Redis at `url` gets while `work` runs, without those that scripts make inside it.
async fn redis_calls<T>(url: &str, work: impl Future<Output = Result<T>>) -> Result<usize> {
    let client = redis::Client::open(url)?;
    let mut marker = client.get_multiplexed_async_connection().await?;
    let mut lines = client.get_async_monitor().await?.into_on_message::<String>();
    let end = Uuid::now_v7().to_string();
    let counting = async {
        let mut calls = 0;
        while let Some(line) = lines.next().await {
            // TIME [DATABASE CLIENT] "WORD" …
            if line.contains(&end) {
                return Ok(calls);
            }
            calls += usize::from(!line.contains(" lua] ") && !line.contains(BESIDE));
        }
        bail!("the connection that monitors Redis ended")
    };
    let working = async {
        work.await?;
        let _: String = redis::cmd("ECHO").arg(&end).query_async(&mut marker).await?;
        Ok(())
    };
    let (calls, done): (Result<usize>, Result<()>) = futures::future::join(counting, working).await;
    done?;
    calls
}
