//! Turns reservations into orders. A failed message comes back after 5, 10 and 30 seconds and then becomes a dead
//! letter, which `dead_letter` keeps retrying: nothing is given up here.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{Serving, serve_events};
use fulfilment::{Fulfilment, FulfilmentError};
use messaging::queue::{OrderMessage, OrderQueue};
use runtime::{Clock, MessageError, each_message};

/// Seconds until a message that failed for the first, second and third time comes back. The fourth time is the last:
/// the queue's `maxReceiveCount` in `infra/cdk` is one more than the length of this list. It then comes back at once,
/// so it becomes a dead letter now rather than when the queue's visibility timeout ends.
pub const RETRY_DELAYS_S: [u32; 3] = [5, 10, 30];

context::deps! {
    OrderDeps(context) {
        pub fulfilment: Fulfilment = Fulfilment {
            stock: context.stock()?,
            ledger: context.ledger()?,
            terms: context.terms()?,
            awards: context.awards()?,
            expiry: context.expiry_queue()?,
        },
        pub orders: OrderQueue = context.order_queue()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(OrderDeps::new, async |deps: &OrderDeps, event| Ok(handle(deps, event).await))
}

pub async fn handle(deps: &OrderDeps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |body| order(deps, body), |failed| deps.orders.put_off(failed, &RETRY_DELAYS_S)).await
}

async fn order(deps: &OrderDeps, body: String) -> Result<(), MessageError> {
    let OrderMessage { reservation, trace, .. } = OrderMessage::parse(&body)?;
    let round = &reservation.id.round;
    let terms = deps.fulfilment.terms.get(round).await?;
    let terms = terms.ok_or_else(|| FulfilmentError::UnknownSale(round.sale.clone()))?;
    let order = deps.fulfilment.place(&reservation, &terms, deps.clock.now()).await?;
    let (id, state, unit) = (&order.reservation.id, order.state.as_str(), order.reservation.unit.0);
    tracing::info!(reservation_id = %id, state, unit, trace, "handled");
    Ok(())
}
