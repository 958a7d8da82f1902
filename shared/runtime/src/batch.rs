use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::Value;
use tracing::Instrument;

/// Which records of a stream failed: Lambda reads it like a queue's, and continues with the first of them.
pub use aws_lambda_events::sqs::SqsBatchResponse as StreamResponse;

/// The time limit for one message. Together with a call to delay its retry it fits into the queue functions' 30 s.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// A batch of a table's stream, which Lambda repeats from the first failed record. Records are parsed one by one.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamEvent {
    /// In the order of the stream.
    #[serde(default = "Vec::new", rename = "Records")]
    pub records: Vec<Value>,
}

pub type MessageError = Box<dyn std::error::Error + Send + Sync>;

/// A delivery of a message that failed.
#[derive(Debug)]
pub struct FailedDelivery {
    /// Identifies this delivery to SQS.
    pub receipt: String,
    /// How often the message was delivered, including this time.
    pub received: usize,
}

/// Handles the bodies of a batch's messages concurrently, each with a time limit. Deliveries that failed are passed to
/// `on_failure` and reported, so SQS delivers the messages again.
pub async fn each_message<W, F>(
    event: SqsEvent,
    work: impl Fn(String) -> W,
    on_failure: impl Fn(FailedDelivery) -> F,
) -> SqsBatchResponse
where
    W: Future<Output = Result<(), MessageError>>,
    F: Future<Output = ()>,
{
    let (work, on_failure) = (&work, &on_failure);
    let handled = event.records.into_iter().map(|message| {
        let [id, body, receipt] =
            [message.message_id, message.body, message.receipt_handle].map(Option::unwrap_or_default);
        let received = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
        let received: usize = received.unwrap_or(1);
        let span = tracing::info_span!("message", message_id = id, received);
        if received > 1 {
            metrics::counter!("Retries").increment(1);
        }
        async move {
            let error: MessageError = match tokio::time::timeout(MESSAGE_TIMEOUT, work(body)).await {
                Ok(Ok(())) => return None,
                Ok(Err(error)) => error,
                Err(timeout) => timeout.into(),
            };
            tracing::error!(error = &*error as &dyn std::error::Error, "the message failed");
            metrics::counter!("MessagesFailed").increment(1);
            on_failure(FailedDelivery { receipt, received }).await;
            Some(id)
        }
        .instrument(span)
    });
    let mut response = SqsBatchResponse::default();
    join_all(handled).await.into_iter().flatten().for_each(|id| response.add_failure(id));
    response
}
