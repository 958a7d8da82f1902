//! The `payment` function: wiring.

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use payment::{Deps, handle};
use runtime::{Clock, Secret, aws_config, init_logs, setting};

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let deps = Deps {
        ledger: Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?),
        secret: Secret::new(SecretsManager::new(&config), setting("PAYMENT_SECRET_ARN")?),
        clock: Clock::system(),
    };
    run_concurrent(service_fn(move |request: Request| {
        let deps = deps.clone();
        async move { Ok::<_, Error>(handle(&deps, request).await) }
    }))
    .await
}
