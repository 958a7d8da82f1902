//! The `reconciliation` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use fulfilment::SEND_AGAIN_AFTER;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use ledger::Ledger;
use queue::OrderQueue;
use reconciliation::{Deps, handle};
use runtime::{Clock, Metrics, aws_config, init_logs, setting};
use serde_json::Value;
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        orders: OrderQueue::new(Sqs::new(&config), setting("ORDERS_QUEUE_URL")?),
        send_again_after: SEND_AGAIN_AFTER,
        clock: Clock::system(),
    };
    let (deps, metrics) = (&deps, &Metrics::init(setting("METRICS_NAMESPACE")?));
    run(service_fn(move |_: LambdaEvent<Value>| async move {
        let summary = handle(deps).await;
        metrics.publish();
        summary.map_err(Error::from)
    }))
    .await
}
