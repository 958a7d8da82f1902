//! The `websocket` function: wiring.

use std::sync::Arc;

use aws_sdk_dynamodb::Client as DynamoDb;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use ledger::Ledger;
use push::Gateway;
use runtime::{Clock, aws_config, init_logs, setting};
use websocket::{Deps, Issuer, handle, use_ring};

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    use_ring();
    let config = aws_config().await;
    let deps = Deps {
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        gateway: Gateway::new(&config, setting("PUSH_ENDPOINT")?),
        issuer: Arc::new(Issuer::new(setting("JWT_ISSUER")?, &setting("JWT_AUDIENCE")?)),
        clock: Clock::system(),
    };
    let deps = &deps;
    run(service_fn(move |event: LambdaEvent<_>| async move { Ok::<_, Error>(handle(deps, event.payload).await) })).await
}
