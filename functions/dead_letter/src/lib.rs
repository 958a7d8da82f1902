//! Gives up on reservations that could not become orders: fenced as FAILED, then released. What nobody can read is kept
//! aside for a look.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use fulfilment::compensate;
use ledger::Ledger;
use queue::{ExpiryQueue, OrderMessage, Quarantine};
use runtime::{Clock, MessageError, each_message};
use stock::Stock;

/// What the function talks to.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// The expiry queue: an order that was made all the same still has to expire.
    pub expiry: ExpiryQueue,
    /// Where unreadable messages are kept.
    pub quarantine: Quarantine,
    /// The time.
    pub clock: Clock,
}

/// Handles a batch: the messages that failed come back, the others are done.
pub async fn handle(deps: &Deps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |message| give_up(deps, message.body), |_| async {}).await
}

async fn give_up(deps: &Deps, body: String) -> Result<(), MessageError> {
    let message = match OrderMessage::parse(&body) {
        Ok(message) => message,
        Err(poison) => {
            // SQS takes no empty message.
            deps.quarantine.keep(if body.is_empty() { "(an empty message)" } else { &body }).await?;
            tracing::error!(error = &poison as &dyn std::error::Error, "a poison message was put into quarantine");
            return Ok(());
        }
    };
    let order = compensate(&deps.stock, &deps.ledger, &deps.expiry, &message.reservation, deps.clock.now()).await?;
    tracing::warn!(reservation_id = %order.id, state = order.state.as_str(), trace = message.trace, "dead letter settled");
    Ok(())
}
