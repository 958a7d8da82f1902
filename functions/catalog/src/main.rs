//! The `catalog` function: wiring.

use std::sync::Arc;

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
    let config = aws_config()?;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let stock = Stock::from_settings(&config)?;
    let deps = Arc::new(Deps { shelf: Shelf::new(stock, ledger, Clock::system()), clock: Clock::system() });
    serve(metrics, move |request| {
        let deps = Arc::clone(&deps);
        async move { handle(&deps, request).await }
    })
    .await
}
