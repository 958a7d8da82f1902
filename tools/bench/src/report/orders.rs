//! The order function: whether the messages of a batch wait for each other.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use axum::body::Bytes;
use load::measure::closed;
use local::stages::Stage;
use messaging::queue::OrderMessage;
use sale::UserId;
use serde_json::{Value, json};
use stock::Reserve;
use uuid::Uuid;

use super::effort::Effort;
use super::figure::{Line, in_turns};
use super::measured::Report;
use super::rivals::{SALE, round};
use super::shop::{Served, Shop};

/// Messages of a batch, as set in `infra/cdk`.
pub(crate) const BATCH: usize = 10;
const DYNAMODB: Duration = Duration::from_millis(5);
const OF_ONE: f64 = 1.5;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    let served = Arc::new(shop.serve("order", 1, 1).await?);
    shop.stock(10_000_000).await?;
    shop.aws.delay(DYNAMODB);
    let stage = Stage::steps("Orders", effort.rounds + 1);
    let both = async |_: usize| {
        let ten = batches(&shop, &served, BATCH, effort.batches).await?;
        anyhow::Ok([ten, batches(&shop, &served, 1, effort.batches).await?])
    };
    let [ten, one] = in_turns(effort.rounds, &stage, both).await?;
    let what = format!("the order function, batch of {BATCH}, AWS answers in {} ms, p50", DYNAMODB.as_millis());
    let line = Line::times("order_batch", what, "a batch of one", [&ten, &one], "ms").at_most(OF_ONE);
    stage.done(line.value());
    report.lines.push(line);
    Ok(())
}

/// Median time of sequential batches of this size.
async fn batches(shop: &Shop, served: &Arc<Served>, size: usize, count: usize) -> Result<f64> {
    let mut events = Vec::with_capacity(count);
    for _ in 0..count {
        events.push(batch(shop, size).await?);
    }
    shop.aws.take_asked();
    let shared = (Arc::clone(served), events);
    let load = closed(1, count, shared, |shared, _, n| async move { order(&shared.0, shared.1[n].clone()).await });
    let p50_ms = load.await?.quantile_ms(0.5);
    let made = shop.aws.take_asked().operations.get("TransactWriteItems").copied().unwrap_or_default();
    ensure!(made == size * count, "{made} transactions for {} reservations", size * count);
    Ok(p50_ms)
}

/// Has the function turn every reservation of an event into an order.
pub(crate) async fn order(served: &Served, event: Bytes) -> Result<()> {
    let made = served.invoke(event).await?;
    let made: Value = serde_json::from_slice(&made)?;
    ensure!(made["batchItemFailures"].as_array().is_some_and(Vec::is_empty), "messages failed: {made}");
    Ok(())
}

/// An event with new reservations of `size` users.
pub(crate) async fn batch(shop: &Shop, size: usize) -> Result<Bytes> {
    let mut records = Vec::with_capacity(size);
    for _ in 0..size {
        let (uuid, round) = (Uuid::now_v7(), round(SALE)?);
        let user: UserId = uuid.to_string().parse()?;
        let Reserve::Reserved(reservation) =
            shop.ring.stock.round(&round).reserve(uuid, &user, sale::BuyerClass::EVERYONE).await?
        else {
            bail!("no unit left for an order");
        };
        records.push(json!({
            "messageId": uuid, "receiptHandle": "r", "body": serde_json::to_string(&OrderMessage::new(reservation, None))?,
            "attributes": { "ApproximateReceiveCount": "1" }, "messageAttributes": {}, "md5OfBody": "",
            "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:orders",
            "awsRegion": "us-east-1",
        }));
    }
    Ok(json!({ "Records": records }).to_string().into())
}
