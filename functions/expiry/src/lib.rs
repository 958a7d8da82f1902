//! Expires orders whose payment window is over. SQS delays messages by 15 minutes at most: early ones are sent on.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Serving, serve_events};
use fulfilment::{Expire, expire};
use ledger::Ledger;
use messaging::queue::{ExpiryMessage, ExpiryQueue};
use runtime::{Clock, MessageError, each_message};
use stock::Stock;

context::deps! {
    ExpiryDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub expiry: ExpiryQueue = context.expiry_queue()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(ExpiryDeps::new, async |deps: &ExpiryDeps, event| Ok(handle(deps, event).await))
}

pub async fn handle(deps: &ExpiryDeps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |body| expire_one(deps, body), |_| async {}).await
}

async fn expire_one(deps: &ExpiryDeps, body: String) -> Result<(), MessageError> {
    let message = ExpiryMessage::parse(&body)?;
    let now = deps.clock.now();
    match expire(&deps.stock, &deps.ledger, &message.id, now).await? {
        Expire::Expired(order) => {
            tracing::info!(reservation_id = %order.reservation.id, unit = order.reservation.unit.0, "expired");
        }
        Expire::Ended(order) => {
            tracing::debug!(reservation_id = %order.reservation.id, state = order.state.as_str(), "had ended")
        }
        Expire::NotYet(pay_by_ms) => deps.expiry.send(&ExpiryMessage::new(message.id, pay_by_ms), now).await?,
    }
    Ok(())
}
