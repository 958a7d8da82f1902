//! The `reservation` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use fulfilment::LiveSales;
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use queue::OrderQueue;
use reservation::{Deps, handle};
use runtime::{Clock, aws_config, init_logs, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        live: LiveSales::new(ledger.clone(), Clock::system()),
        ledger,
        orders: OrderQueue::new(Sqs::new(&config), setting("ORDERS_QUEUE_URL")?),
        clock: Clock::system(),
    };
    run_concurrent(service_fn(move |request: Request| {
        let deps = deps.clone();
        async move { Ok::<_, Error>(handle(&deps, request).await) }
    }))
    .await
}
