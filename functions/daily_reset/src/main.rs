//! The `daily_reset` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use daily_reset::{Deps, handle};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use ledger::Ledger;
use runtime::{Clock, aws_config, init_logs, setting};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps { ledger, clock: Clock::system() };
    let deps = &deps;
    run(service_fn(move |_: LambdaEvent<Value>| async move { handle(deps).await.map_err(Error::from) })).await
}
