//! The `reservation` function: wiring.

use std::sync::Arc;

use api::{EdgeKey, serve};
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use lambda_http::{Error, Request};
use ledger::Ledger;
use process::Snapshots;
use queue::{ExpiryQueue, OrderQueue};
use reservation::{Deps, handle};
use runtime::{Clock, PassKeys, Secret, aws_config, init_telemetry, optional_secret, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let sqs = Sqs::new(&config);
    let edge_key = EdgeKey::new(optional_secret(&config, "EDGE_KEY_SECRET_ARN"));
    let deps = Arc::new(Deps {
        stock: Stock::from_settings(&config)?,
        snapshots: Snapshots::new(ledger.clone(), Clock::system()),
        keys: PassKeys::new(Secret::new(SecretsManager::new(&config), setting("PASS_SECRET_ARN")?)),
        limiter: Arc::default(),
        forgeries: Arc::default(),
        ledger,
        orders: OrderQueue::new(sqs.clone(), setting("ORDERS_QUEUE_URL")?),
        expiry: ExpiryQueue::new(sqs, setting("EXPIRY_QUEUE_URL")?),
        clock: Clock::system(),
    });
    let snapshots = deps.snapshots.clone();
    let metrics = metrics.before_publishing(move || snapshots.report_demand());
    serve(metrics, move |mut request: Request| {
        let (deps, edge_key) = (Arc::clone(&deps), edge_key.clone());
        async move {
            edge_key.take_viewer_address(&mut request).await;
            let response = handle(&deps, request).await;
            deps.snapshots.flush_answers_soon(&deps.stock);
            response
        }
    })
    .await
}
