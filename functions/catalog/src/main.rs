//! The `catalog` function: wiring.

use api::serve;
use aws_sdk_dynamodb::Client as DynamoDb;
use catalog::{Deps, Shelf, handle};
use lambda_http::Error;
use ledger::Ledger;
use runtime::{Clock, aws_config, init_telemetry, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config().await;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let stock = Stock::from_settings(&config)?;
    let deps = Deps { shelf: Shelf::new(stock, ledger, Clock::system()), clock: Clock::system() };
    serve(metrics, move |request| {
        let deps = deps.clone();
        async move { handle(&deps, request).await }
    })
    .await
}
