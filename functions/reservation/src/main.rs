//! The `reservation` function: wiring.

use std::sync::Arc;

use api::take_viewer_address;
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use fulfilment::Board;
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use queue::{ExpiryQueue, OrderQueue};
use reservation::{Deps, handle};
use runtime::{Clock, Metrics, PassKeys, Secret, aws_config, init_logs, optional_setting, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let secrets = SecretsManager::new(&config);
    let edge_key: Option<Secret> = optional_setting("EDGE_KEY_SECRET_ARN").map(|arn| Secret::new(secrets.clone(), arn));
    let metrics = Arc::new(Metrics::init(setting("METRICS_NAMESPACE")?));
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        board: Board::new(ledger.clone(), Clock::system()),
        keys: PassKeys::new(Secret::new(secrets, setting("PASS_SECRET_ARN")?)),
        limiter: Arc::default(),
        forgeries: Arc::default(),
        ledger,
        orders: OrderQueue::new(Sqs::new(&config), setting("ORDERS_QUEUE_URL")?),
        expiry: ExpiryQueue::new(Sqs::new(&config), setting("EXPIRY_QUEUE_URL")?),
        clock: Clock::system(),
    };
    run_concurrent(service_fn(move |mut request: Request| {
        let (deps, metrics, edge_key) = (deps.clone(), Arc::clone(&metrics), edge_key.clone());
        async move {
            if let Some(key) = &edge_key {
                take_viewer_address(&mut request, &key.get().await?);
            }
            let response = handle(&deps, request).await;
            metrics.publish_now_and_then(|| deps.board.report_load());
            Ok::<_, Error>(response)
        }
    }))
    .await
}
