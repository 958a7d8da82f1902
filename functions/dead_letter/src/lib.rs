//! Retries reservations that could not become orders at first, for as long as it takes. A message that fails comes back
//! when its queue's visibility timeout ends: every three minutes, for up to 14 days. A reservation is fenced as FAILED
//! only if it can never become an order. Unreadable messages go into quarantine.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Serving, serve_events};
use fulfilment::Fulfilment;
use messaging::queue::{OrderMessage, Quarantine};
use runtime::{Clock, MessageError, each_message};

context::deps! {
    DeadLetterDeps(context) {
        pub fulfilment: Fulfilment = Fulfilment {
            stock: context.stock()?,
            ledger: context.ledger()?,
            terms: context.terms()?,
            awards: context.awards()?,
            expiry: context.expiry_queue()?,
        },
        pub quarantine: Quarantine = context.quarantine()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(DeadLetterDeps::new, async |deps: &DeadLetterDeps, event| Ok(handle(deps, event).await))
}

pub async fn handle(deps: &DeadLetterDeps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |body| resolve(deps, body), |_| async {}).await
}

async fn resolve(deps: &DeadLetterDeps, body: String) -> Result<(), MessageError> {
    let message = match OrderMessage::parse(&body) {
        Ok(message) => message,
        Err(poison) => {
            // SQS does not accept an empty message.
            deps.quarantine.keep(if body.is_empty() { "(an empty message)" } else { &body }).await?;
            tracing::error!(error = &poison as &dyn std::error::Error, "a poison message was put into quarantine");
            return Ok(());
        }
    };
    let order = deps.fulfilment.place_or_fail(&message.reservation, deps.clock.now()).await?;
    let (state, failure) = (order.state.as_str(), order.failure);
    tracing::warn!(reservation_id = %order.reservation.id, state, ?failure, trace = message.trace, "dead letter resolved");
    Ok(())
}
