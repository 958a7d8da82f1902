//! Turns reservations into orders. A failed message comes back after 5, 10 and 30 seconds and then becomes a dead
//! letter, which `dead_letter` keeps retrying: nothing is given up here.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Context, ContextError, Error, serve_events};
use fulfilment::{FulfilmentError, place};
use ledger::Ledger;
use process::{AwardCache, TermsCache};
use queue::{ExpiryQueue, OrderMessage, OrderQueue};
use runtime::{Clock, MessageError, ReceivedMessage, each_message};
use stock::Stock;

/// Seconds until a message that failed for the first, second and third time comes back. The fourth time is the last:
/// the queue's `maxReceiveCount` in `infra/cdk` is one more than the length of this list. It then comes back at once,
/// so it becomes a dead letter now rather than when the queue's visibility timeout ends.
pub const LADDER_S: [u32; 3] = [5, 10, 30];

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
    /// The order queue.
    pub orders: OrderQueue,
    /// The expiry queue.
    pub expiry: ExpiryQueue,
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
            orders: context.order_queue()?,
            expiry: context.expiry_queue()?,
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
    each_message(event, |message| order(deps, message.body), |message| put_off(deps, message)).await
}

async fn order(deps: &Deps, body: String) -> Result<(), MessageError> {
    let OrderMessage { claim, trace, .. } = OrderMessage::parse(&body)?;
    let round = &claim.id.round;
    let terms = deps.terms.get(round).await?.ok_or_else(|| FulfilmentError::UnknownSale(round.sale.clone()))?;
    let now = deps.clock.now();
    let limits = deps.terms.campaign_limits(&round.sale).await?;
    let order = place(&deps.stock, &deps.ledger, &deps.awards, &deps.expiry, &terms, &limits, &claim, now).await?;
    let (id, state, unit) = (&order.claim.id, order.state.as_str(), order.claim.unit.0);
    tracing::info!(reservation_id = %id, state, unit, trace, "settled");
    Ok(())
}

async fn put_off(deps: &Deps, message: ReceivedMessage) {
    let delay_s = message.received.checked_sub(1).and_then(|rung| LADDER_S.get(rung)).copied().unwrap_or(0);
    if let Err(error) = deps.orders.put_off(&message.receipt, delay_s).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "the message comes back later than it should");
    }
}
