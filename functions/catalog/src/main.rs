//! The `catalog` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use catalog::{Deps, Shelf, handle};
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use runtime::{Clock, aws_config, init_logs, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let ledger = Ledger::new(DynamoDb::new(&aws_config().await), setting("TABLE_NAME")?);
    let stock = Stock::new(&setting("REDIS_URL")?)?;
    let deps = Deps { shelf: Shelf::new(stock, ledger, Clock::system()), clock: Clock::system() };
    run_concurrent(service_fn(move |request: Request| {
        let deps = deps.clone();
        async move { Ok::<_, Error>(handle(&deps, request).await) }
    }))
    .await
}
