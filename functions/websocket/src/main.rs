//! The `websocket` function: wiring.

use std::sync::Arc;

use aws_sdk_dynamodb::Client as DynamoDb;
use lambda_runtime::Error;
use ledger::Ledger;
use push::Gateway;
use runtime::{Clock, aws_config, init_telemetry, serve_events, setting};
use websocket::{Deps, Issuer, handle, use_ring};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    use_ring();
    let config = aws_config()?;
    let deps = Deps {
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        gateway: Gateway::new(&config, setting("PUSH_ENDPOINT")?),
        issuer: Arc::new(Issuer::new(setting("JWT_ISSUER")?, &setting("JWT_AUDIENCE")?)),
        clock: Clock::system(),
    };
    let deps = &deps;
    serve_events(metrics, move |event| async move { Ok::<_, Error>(handle(deps, event).await) }).await
}
