//! The `notifier` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use lambda_runtime::Error;
use ledger::Ledger;
use notifier::{Deps, handle};
use push::Gateway;
use runtime::{Clock, aws_config, init_telemetry, serve_events, setting};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let deps = Deps {
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        gateway: Gateway::new(&config, setting("PUSH_ENDPOINT")?),
        delivered: notifier::Delivered::default(),
        clock: Clock::system(),
    };
    let deps = &deps;
    serve_events(metrics, move |event| async move { Ok::<_, Error>(handle(deps, event).await) }).await
}
