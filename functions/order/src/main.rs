//! The `order` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use lambda_runtime::Error;
use ledger::Ledger;
use order::{Deps, handle};
use process::TermsCache;
use queue::{ExpiryQueue, OrderQueue};
use runtime::{Clock, aws_config, init_telemetry, serve_events, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let sqs = Sqs::new(&config);
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps {
        stock: Stock::from_settings(&config)?,
        terms: TermsCache::new(ledger.clone()),
        ledger,
        orders: OrderQueue::new(sqs.clone(), setting("ORDERS_QUEUE_URL")?),
        expiry: ExpiryQueue::new(sqs, setting("EXPIRY_QUEUE_URL")?),
        clock: Clock::system(),
    };
    let deps = &deps;
    serve_events(metrics, move |event| async move { Ok::<_, Error>(handle(deps, event).await) }).await
}
