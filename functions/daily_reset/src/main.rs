//! The `daily_reset` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use daily_reset::{Deps, handle};
use lambda_runtime::Error;
use ledger::Ledger;
use runtime::{Clock, aws_config, init_telemetry, serve_events, setting};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps { ledger, clock: Clock::system() };
    let deps = &deps;
    serve_events(metrics, move |_: Value| async move { handle(deps).await.map_err(Error::from) }).await
}
