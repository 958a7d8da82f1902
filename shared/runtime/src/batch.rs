use std::time::Duration;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::future::join_all;
use tracing::Instrument;

/// The time limit for one message. Together with a call to delay its retry it fits into the queue functions' 30 s.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

pub type MessageError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Clone)]
pub struct ReceivedMessage {
    pub id: String,
    pub body: String,
    /// Identifies this delivery to SQS.
    pub receipt: String,
    /// How often it was delivered, including this time.
    pub received: usize,
}

impl From<SqsMessage> for ReceivedMessage {
    fn from(message: SqsMessage) -> Self {
        let received = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
        Self {
            id: message.message_id.unwrap_or_default(),
            body: message.body.unwrap_or_default(),
            receipt: message.receipt_handle.unwrap_or_default(),
            received: received.unwrap_or(1),
        }
    }
}

/// Handles the messages of a batch concurrently, each with a time limit. Messages that failed are passed to
/// `on_failure` and reported, so SQS delivers them again.
pub async fn each_message<W, F>(
    event: SqsEvent,
    work: impl Fn(ReceivedMessage) -> W,
    on_failure: impl Fn(ReceivedMessage) -> F,
) -> SqsBatchResponse
where
    W: Future<Output = Result<(), MessageError>>,
    F: Future<Output = ()>,
{
    let (work, on_failure) = (&work, &on_failure);
    let handled = event.records.into_iter().map(ReceivedMessage::from).map(|message| {
        let id = message.id.clone();
        let span = tracing::info_span!("message", message_id = id, received = message.received);
        if message.received > 1 {
            metrics::counter!("Retries").increment(1);
        }
        async move {
            let error: MessageError = match tokio::time::timeout(MESSAGE_TIMEOUT, work(message.clone())).await {
                Ok(Ok(())) => return None,
                Ok(Err(error)) => error,
                Err(timeout) => timeout.into(),
            };
            tracing::error!(error = &*error as &dyn std::error::Error, "the message failed");
            metrics::counter!("MessagesFailed").increment(1);
            on_failure(message).await;
            Some(id)
        }
        .instrument(span)
    });
    let mut response = SqsBatchResponse::default();
    join_all(handled).await.into_iter().flatten().for_each(|id| response.add_failure(id));
    response
}
