//! SQS: messages, sending, delaying and retrying.

mod depth;
mod message;
mod redrive;
mod sync;
mod together;

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::SdkError;
use aws_sdk_sqs::types::{
    BatchResultErrorEntry, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use futures::future::BoxFuture;
use runtime::breaker::{self, Breaker, Broken};
use runtime::{Clock, FailedDelivery};
use sale::EpochMs;

pub use depth::{Depth, OrderBacklog, depth};
pub use message::{ExpiryMessage, InvalidMessage, OrderMessage, RebuildMessage, WinnerMessage};
pub use redrive::{Redriven, redrive};

use crate::queue::together::Together;

/// SQS delays a message by at most 15 minutes (SQS API reference, `SendMessage`, `DelaySeconds`).
pub const MAX_DELAY_S: u32 = 900;

#[derive(Debug, Clone, thiserror::Error)]
pub enum QueueError {
    #[error("SQS did not answer {call}")]
    Sqs {
        call: &'static str,
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    #[error("SQS does not say {0}")]
    Missing(&'static str),
    #[error("SQS did not take a message of a batch: {0}")]
    Refused(String),
    #[error("SQS does not answer and was not asked")]
    Open(#[source] breaker::Open),
}

impl QueueError {
    fn of<E>(call: &'static str) -> impl FnOnce(E) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        move |source| Self::Sqs { call, source: Arc::new(source) }
    }
}

#[derive(Clone)]
struct Queue {
    client: Client,
    url: String,
    sends: Breaker,
    together: Arc<Together<Outgoing, Result<(), QueueError>>>,
}

#[derive(Clone)]
struct Outgoing {
    body: String,
    delay_s: u32,
    trace: Option<String>,
}

impl Queue {
    /// Sends a message at once, in a call of its own.
    ///
    /// Boxed, and not `async`, like the calls below: each crate that awaits a future compiles it, the SDK's in seconds.
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), QueueError>> {
        let Outgoing { body, delay_s, trace } = message;
        let send = self.client.send_message().queue_url(&self.url).message_body(body);
        let send = send.set_message_system_attributes(trace.as_deref().and_then(trace_header));
        let send = send.delay_seconds(delay_s as i32);
        Box::pin(async { self.call("SendMessage", send.send()).await.map(drop) })
    }

    /// Sends a message, in one call with others that come while this process is sending. Each succeeds or fails by
    /// itself. Messages must be short: ten of them fit into a call.
    async fn send_with_others(&self, message: Outgoing) -> Result<(), QueueError> {
        let sent = Box::pin(self.together.send(message, |mut batch: Vec<Outgoing>| async move {
            match batch.len() {
                1 => vec![self.send(batch.remove(0)).await],
                _ => self.send_batch(batch).await,
            }
        }));
        sent.await.unwrap_or(Err(QueueError::Missing("whether it has a message of a batch")))
    }

    fn send_batch(&self, batch: Vec<Outgoing>) -> BoxFuture<'_, Vec<Result<(), QueueError>>> {
        let count = batch.len();
        let entries = batch.into_iter().enumerate().map(|(at, Outgoing { body, delay_s, trace })| {
            let entry = SendMessageBatchRequestEntry::builder().id(at.to_string()).message_body(body);
            let entry = entry.set_message_system_attributes(trace.as_deref().and_then(trace_header));
            entry.delay_seconds(delay_s as i32).build().expect("it has an id and a body")
        });
        let send = self.client.send_message_batch().queue_url(&self.url).set_entries(Some(entries.collect()));
        Box::pin(async move {
            match self.call("SendMessageBatch", send.send()).await {
                Ok(output) => each_of(count, output.successful.iter().map(|sent| &*sent.id), &output.failed),
                Err(error) => vec![Err(error); count],
            }
        })
    }

    /// Makes a call, unless the breaker is open. A batch is one call.
    async fn call<T, E>(
        &self,
        name: &'static str,
        call: impl Future<Output = Result<T, SdkError<E>>>,
    ) -> Result<T, QueueError>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.sends.call(is_unanswered, call).await.map_err(|broken| match broken {
            Broken::Open => QueueError::Open(breaker::Open),
            Broken::Failed(error) => QueueError::of(name)(error),
        })
    }

    fn put_off(&self, receipt: &str, delay_s: u32) -> BoxFuture<'static, Result<(), QueueError>> {
        let put_off = self.client.change_message_visibility().queue_url(&self.url).receipt_handle(receipt);
        let put_off = put_off.visibility_timeout(delay_s as i32);
        Box::pin(async { put_off.send().await.map(|_| ()).map_err(QueueError::of("ChangeMessageVisibility")) })
    }
}

/// The result of each entry of a batch, whose ids are their positions. What SQS does not mention it may not have.
fn each_of<'a>(
    count: usize,
    successful: impl Iterator<Item = &'a str>,
    failed: &[BatchResultErrorEntry],
) -> Vec<Result<(), QueueError>> {
    let mut results = vec![Err(QueueError::Missing("whether it has a message of a batch")); count];
    let mut set = |id: &str, result| {
        if let Some(at) = id.parse().ok().and_then(|at: usize| results.get_mut(at)) {
            *at = result;
        }
    };
    successful.for_each(|id| set(id, Ok(())));
    failed.iter().for_each(|entry| set(&entry.id, Err(QueueError::Refused(entry.code.clone()))));
    results
}

/// Makes X-Ray record the receiver of a message as a part of the sender's trace.
fn trace_header(trace: &str) -> Option<HashMap<MessageSystemAttributeNameForSends, MessageSystemAttributeValue>> {
    let value = MessageSystemAttributeValue::builder().data_type("String").string_value(trace).build();
    let value = value.expect("it has a type");
    trace.starts_with("Root=").then(|| HashMap::from([(MessageSystemAttributeNameForSends::AwsTraceHeader, value)]))
}

/// Whether the error means that SQS is unavailable: no connection, or no answer in time. A refusal is an answer.
fn is_unanswered<E, R>(error: &SdkError<E, R>) -> bool {
    matches!(error, SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_))
}

macro_rules! queues {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Queue);

        impl $name {
            pub fn new(client: Client, url: impl Into<String>, clock: Clock) -> Self {
                Self(Queue { client, url: url.into(), sends: Breaker::new("SQS", clock), together: Arc::default() })
            }
        })*
    };
}

queues! {
    /// Reservations that will become orders.
    OrderQueue;
    /// Orders whose payment window is open.
    ExpiryQueue;
    /// Prizes whose winners must be notified.
    WinnerQueue;
    /// Rounds that Redis has lost while they are open.
    RebuildQueue;
    /// Unreadable messages, kept for inspection.
    Quarantine;
    /// Changes of the table of which no event can be made, kept for inspection.
    EmitterFailures;
    /// Events for the merchant's address.
    WebhookQueue;
}

impl OrderQueue {
    /// Sends a reservation to the order queue. Once this returns, SQS has it in several zones. Fails if SQS does not
    /// answer; it may or may not have the message then. A duplicate does no harm.
    pub async fn send(&self, message: &OrderMessage) -> Result<(), QueueError> {
        self.0.send_with_others(Outgoing { body: message.to_body(), delay_s: 0, trace: message.trace.clone() }).await
    }
}

macro_rules! puts_off {
    ($($queue:ident)*) => {
        $(impl $queue {
            /// Makes a message that failed for the first, second and so on time come back after this many seconds, and
            /// at once after the last of them. If SQS does not answer, it comes back when the queue's visibility
            /// timeout ends.
            pub async fn put_off(&self, failed: FailedDelivery, delays_s: &[u32]) {
                let failed_before = failed.received.checked_sub(1);
                let delay_s = failed_before.and_then(|retry| delays_s.get(retry)).copied().unwrap_or(0);
                if let Err(error) = self.0.put_off(&failed.receipt, delay_s).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the message's delay could not be set");
                }
            }
        })*
    };
}

puts_off!(OrderQueue WebhookQueue);

impl ExpiryQueue {
    /// Sends an order to be expired when its payment window ends, or in [`MAX_DELAY_S`] seconds if that is sooner.
    /// Fails if SQS does not answer; it may or may not have the message then. A duplicate does no harm.
    pub async fn send(&self, message: &ExpiryMessage, now: EpochMs) -> Result<(), QueueError> {
        let delay_s = hop_s(message.pay_by_ms, now);
        self.0.send_with_others(Outgoing { body: message.to_body(), delay_s, trace: None }).await
    }
}

impl WinnerQueue {
    /// Sends a prize whose winner must be notified. Fails if SQS does not answer; it may or may not have the message
    /// then. A duplicate has the same number.
    pub async fn send(&self, message: &WinnerMessage) -> Result<(), QueueError> {
        self.0.send_with_others(Outgoing { body: message.to_body(), delay_s: 0, trace: None }).await
    }
}

impl RebuildQueue {
    /// Asks for a round to be loaded again. Fails if SQS does not answer; it may or may not have the message then. A
    /// duplicate does no harm.
    pub async fn send(&self, message: &RebuildMessage) -> Result<(), QueueError> {
        self.0.send(Outgoing { body: message.to_body(), delay_s: 0, trace: None }).await
    }
}

/// The delay of the next hop towards `pay_by`: whole seconds, rounded up so that the last hop does not come early.
fn hop_s(pay_by: EpochMs, now: EpochMs) -> u32 {
    pay_by.since_ms(now).div_ceil(1000).min(u64::from(MAX_DELAY_S)) as u32
}

macro_rules! keeps {
    ($($queue:ident)*) => {
        $(impl $queue {
            /// Keeps a message, a record or an event. Fails if SQS does not answer; it must come again then.
            pub async fn keep(&self, body: &str) -> Result<(), QueueError> {
                self.0.send(Outgoing { body: body.to_owned(), delay_s: 0, trace: None }).await
            }
        })*
    };
}

keeps!(Quarantine EmitterFailures);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_end_at_pay_by_and_never_exceed_the_longest_delay() {
        let hops = [(-5000, 0), (0, 0), (1, 1), (1000, 1), (1001, 2), (899_001, 900), (900_000, 900), (7_200_000, 900)];
        for (left_ms, seconds) in hops {
            assert_eq!(hop_s(EpochMs(1_000_000 + left_ms), EpochMs(1_000_000)), seconds, "{left_ms}");
        }
    }

    #[test]
    fn each_message_of_a_batch_has_its_own_result() {
        let refused = BatchResultErrorEntry::builder().id("1").code("Failure").sender_fault(false).build().unwrap();
        let results = each_of(4, ["0", "3", "9", "x"].into_iter(), &[refused]);
        assert!(matches!(&results[..], [Ok(()), Err(QueueError::Refused(_)), Err(QueueError::Missing(_)), Ok(())]));
    }
}
