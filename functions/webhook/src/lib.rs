//! Sends the events of the bus to the merchant's address, if the deployment has one. An event that it does not accept
//! comes back after 5 s, 30 s, and then ever later for half a day; then it becomes a dead letter, which an operator can
//! send back. So no event is lost; one may come twice, with the same id.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{ContextError, Serving, serve_events};
use messaging::queue::WebhookQueue;
use messaging::webhook::WebhookClient;
use runtime::{Clock, MessageError, each_message};
use serde_json::Value;

/// Seconds until an event that failed for the first time, the second time and so on comes back: 14 hours in all. The
/// queue's `maxReceiveCount` in `infra/cdk` is one more than the length of this list. The last time it comes back at
/// once, which makes it a dead letter.
pub const RETRY_DELAYS_S: [u32; 9] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600];

context::deps! {
    WebhookDeps(context) {
        /// The merchant's address. `None` if the deployment has none (any more).
        receiver: Option<WebhookClient> =
            WebhookClient::new(context.settings().optional("WEBHOOK_URL"), context.webhook_secret()?)
                .map_err(|error| ContextError::unusable("WEBHOOK_URL", error))?,
        pub events: WebhookQueue = context.webhook_queue()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(WebhookDeps::new, async |deps: &WebhookDeps, event| Ok(handle(deps, event).await))
}

#[derive(Debug, thiserror::Error)]
enum NotSent {
    #[error("the message is not an event")]
    NoEvent,
    #[error("the deployment has no address to send events to")]
    NoReceiver,
}

pub async fn handle(deps: &WebhookDeps, batch: SqsEvent) -> SqsBatchResponse {
    each_message(batch, |body| deliver(deps, body), |failed| deps.events.put_off(failed, &RETRY_DELAYS_S)).await
}

async fn deliver(deps: &WebhookDeps, body: String) -> Result<(), MessageError> {
    let mut envelope: Value = serde_json::from_str(&body)?;
    let event = envelope["detail"].take();
    let text = |name: &str| event[name].as_str().ok_or(NotSent::NoEvent);
    let (id, kind) = (text("id")?, text("type")?);
    deps.receiver.as_ref().ok_or(NotSent::NoReceiver)?.send(id, event.to_string(), deps.clock.now()).await?;
    tracing::info!(event_id = id, kind, "event sent");
    Ok(())
}
