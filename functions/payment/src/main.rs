//! The `payment` function: wiring.

use std::sync::Arc;

use api::serve;
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use lambda_http::Error;
use ledger::Ledger;
use payment::{Deps, handle};
use runtime::{Clock, Secret, aws_config, init_telemetry, setting};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let metrics = init_telemetry()?;
    let config = aws_config()?;
    let deps = Arc::new(Deps {
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        secret: Secret::new(SecretsManager::new(&config), setting("PAYMENT_SECRET_ARN")?),
        clock: Clock::system(),
    });
    serve(metrics, move |request| {
        let deps = Arc::clone(&deps);
        async move { handle(&deps, request).await }
    })
    .await
}
