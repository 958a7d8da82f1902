//! The `admin` function: wiring.

use std::sync::Arc;

use admin::{Deps, QueueUrls, handle};
use api::{Operators, serve};
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use lambda_http::Error;
use ledger::Ledger;
use process::OrderCounts;
use runtime::{Clock, MissingSetting, aws_config, init_telemetry, optional_setting, setting};
use stock::Stock;

/// Settings of the previous version name no claim.
fn operators() -> Result<Operators, MissingSetting> {
    let group = setting("OPERATOR_GROUP")?;
    Ok(match optional_setting("OPERATOR_CLAIM") {
        Some(claims) => Operators::new(group, &claims),
        None => Operators::usual(group),
    })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Arc::new(Deps {
        stock: Stock::from_settings(&config)?,
        order_counts: OrderCounts::new(ledger.clone(), Clock::system()),
        ledger,
        sqs: Sqs::new(&config),
        queues: Arc::new(QueueUrls {
            orders: setting("ORDERS_QUEUE_URL")?,
            orders_dlq: setting("ORDERS_DLQ_URL")?,
            expiry: setting("EXPIRY_QUEUE_URL")?,
            expiry_dlq: setting("EXPIRY_DLQ_URL")?,
            quarantine: setting("QUARANTINE_QUEUE_URL")?,
        }),
        operators: operators()?,
        clock: Clock::system(),
    });
    serve(metrics, move |request| {
        let deps = Arc::clone(&deps);
        async move { handle(&deps, request).await }
    })
    .await
}
