//! The `admission` function: wiring.

use admission::{Deps, handle};
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use fulfilment::Board;
use lambda_http::{Error, Request, run_concurrent, service_fn};
use ledger::Ledger;
use runtime::{Clock, PassKeys, Secret, aws_config, init_logs, setting};
use stock::Stock;

#[tokio::main]
async fn main() -> Result<(), Error> {
    init_logs();
    let config = aws_config().await;
    let ledger = Ledger::new(DynamoDb::new(&config), setting("TABLE_NAME")?);
    let deps = Deps {
        stock: Stock::new(&setting("REDIS_URL")?)?,
        board: Board::new(ledger.clone(), Clock::system()),
        ledger,
        keys: PassKeys::new(Secret::new(SecretsManager::new(&config), setting("PASS_SECRET_ARN")?)),
        clock: Clock::system(),
    };
    run_concurrent(service_fn(move |request: Request| {
        let deps = deps.clone();
        async move { Ok::<_, Error>(handle(&deps, request).await) }
    }))
    .await
}
