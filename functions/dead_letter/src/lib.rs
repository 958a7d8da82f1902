//! Retries reservations that could not become orders at first, for as long as it takes. A message that fails comes back
//! when its queue's visibility timeout ends: every three minutes, for up to 14 days. A reservation is fenced as FAILED
//! only if it can never become an order. Unreadable messages go into quarantine.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Context, ContextError, Error, serve_events};
use fulfilment::place_or_fail;
use ledger::Ledger;
use process::{AwardCache, TermsCache};
use queue::{ExpiryQueue, OrderMessage, Quarantine};
use runtime::{Clock, MessageError, each_message};
use stock::Stock;

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// The terms of rounds.
    pub terms: TermsCache,
    /// The awards of units.
    pub awards: AwardCache,
    /// The expiry queue.
    pub expiry: ExpiryQueue,
    /// The queue that keeps unreadable messages.
    pub quarantine: Quarantine,
    /// The clock.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            terms: context.terms()?,
            awards: context.awards()?,
            expiry: context.expiry_queue()?,
            quarantine: context.quarantine()?,
            clock: context.clock(),
        })
    }
}

/// Serves until Lambda ends the process. Fails if a setting is missing or unusable, or the Runtime API does not answer.
pub async fn run() -> Result<(), Error> {
    serve_events(Deps::new, async |deps: &Deps, event| Ok(handle(deps, event).await)).await
}

/// Handles a batch. Returns the messages that failed, which SQS delivers again.
pub async fn handle(deps: &Deps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |message| settle(deps, message.body), |_| async {}).await
}

async fn settle(deps: &Deps, body: String) -> Result<(), MessageError> {
    let message = match OrderMessage::parse(&body) {
        Ok(message) => message,
        Err(poison) => {
            // SQS does not accept an empty message.
            deps.quarantine.keep(if body.is_empty() { "(an empty message)" } else { &body }).await?;
            tracing::error!(error = &poison as &dyn std::error::Error, "a poison message was put into quarantine");
            return Ok(());
        }
    };
    let Deps { stock, ledger, terms, awards, expiry, .. } = deps;
    let order = place_or_fail(stock, ledger, awards, expiry, terms, &message.claim, deps.clock.now()).await?;
    let (state, failure) = (order.state.as_str(), order.failure);
    tracing::warn!(reservation_id = %order.claim.id, state, ?failure, trace = message.trace, "dead letter settled");
    Ok(())
}
