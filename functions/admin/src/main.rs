//! The `admin` function: wiring.

use std::sync::Arc;

use admin::{Deps, QueueUrls, handle};
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use runtime::{Clock, aws_config, init_logs, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        sqs: Sqs::new(&config),
        queues: Arc::new(QueueUrls {
            orders: setting("ORDERS_QUEUE_URL")?,
            orders_dlq: setting("ORDERS_DLQ_URL")?,
            expiry: setting("EXPIRY_QUEUE_URL")?,
            expiry_dlq: setting("EXPIRY_DLQ_URL")?,
            quarantine: setting("QUARANTINE_QUEUE_URL")?,
        }),
        operator_group: setting("OPERATOR_GROUP")?.into(),
        clock: Clock::system(),
    };
    run_concurrent(service_fn(move |request: Request| {
        let deps = deps.clone();
        async move { Ok::<_, Error>(handle(&deps, request).await) }
    }))
    .await
}
