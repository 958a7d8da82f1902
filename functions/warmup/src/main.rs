//! The `warmup` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use ledger::Ledger;
use runtime::{Clock, aws_config, init_logs, setting};
use serde_json::Value;
use stock::Stock;
use warmup::{Deps, handle};

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        clock: Clock::system(),
    };
    let deps = &deps;
    run(service_fn(move |_: LambdaEvent<Value>| async move { handle(deps).await.map_err(Error::from) })).await
}
