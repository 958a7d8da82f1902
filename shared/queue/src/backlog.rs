use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;

use crate::QueueError;

/// What is to be known to call a queue empty: messages that can be received, that somebody has received, that are delayed.
const COUNTS: [QueueAttributeName; 3] = [
    QueueAttributeName::ApproximateNumberOfMessages,
    QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
    QueueAttributeName::ApproximateNumberOfMessagesDelayed,
];

/// The reservations that are still to become orders: the order queue and its dead letters.
#[derive(Clone)]
pub struct OrderBacklog {
    client: Client,
    orders_url: String,
    dead_letters_url: String,
}

impl OrderBacklog {
    /// A handle on the queue at `orders_url` and its dead-letter queue.
    pub fn new(client: Client, orders_url: impl Into<String>, dead_letters_url: impl Into<String>) -> Self {
        Self { client, orders_url: orders_url.into(), dead_letters_url: dead_letters_url.into() }
    }

    /// Whether SQS counts no message in either queue, whatever its state. The counts are eventually consistent: they "may not
    /// achieve consistency until at least 1 minute after the producers stop sending messages" (SQS API reference,
    /// `GetQueueAttributes`). So one answer proves nothing, and two that are more than a minute apart do.
    ///
    /// # Errors
    /// If SQS does not answer, or leaves a count out.
    pub async fn is_empty(&self) -> Result<bool, QueueError> {
        // In the order in which a message moves.
        Ok(self.counts_none(&self.orders_url).await? && self.counts_none(&self.dead_letters_url).await?)
    }

    /// Whether SQS counts no dead letter, whatever its state; with the same doubt about the last minute.
    ///
    /// # Errors
    /// If SQS does not answer, or leaves a count out.
    pub async fn has_no_dead_letters(&self) -> Result<bool, QueueError> {
        self.counts_none(&self.dead_letters_url).await
    }

    async fn counts_none(&self, url: &str) -> Result<bool, QueueError> {
        let get = self.client.get_queue_attributes().queue_url(url).set_attribute_names(Some(COUNTS.to_vec()));
        let answer = get.send().await.map_err(QueueError::of("GetQueueAttributes"))?;
        let attributes = answer.attributes.unwrap_or_default();
        for name in &COUNTS {
            // A count that is missing is not zero.
            let count = attributes.get(name).and_then(|text| text.parse::<u64>().ok());
            if count.ok_or(QueueError::Missing("how many messages a queue has"))? > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
