//! The `order` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use fulfilment::TermsCache;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use ledger::Ledger;
use order::{Deps, handle};
use queue::{ExpiryQueue, OrderQueue};
use runtime::{Clock, aws_config, init_logs, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let sqs = Sqs::new(&config);
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        terms: TermsCache::new(ledger.clone()),
        ledger,
        orders: OrderQueue::new(sqs.clone(), setting("ORDERS_QUEUE_URL")?),
        expiry: ExpiryQueue::new(sqs, setting("EXPIRY_QUEUE_URL")?),
        clock: Clock::system(),
    };
    let deps = &deps;
    run(service_fn(move |event: LambdaEvent<_>| async move { Ok::<_, Error>(handle(deps, event.payload).await) })).await
}
