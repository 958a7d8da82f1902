use aws_sdk_sqs::Client;

use crate::queue::{QueueError, depth};

/// Reservations that are not orders yet: the order queue and its dead letters.
#[derive(Clone)]
pub struct OrderBacklog {
    client: Client,
    orders_url: String,
    dead_letters_url: String,
}

impl OrderBacklog {
    pub fn new(client: Client, orders_url: impl Into<String>, dead_letters_url: impl Into<String>) -> Self {
        Self { client, orders_url: orders_url.into(), dead_letters_url: dead_letters_url.into() }
    }

    /// Whether SQS counts no message in either queue, in any state. The counts are eventually consistent: they "may not
    /// achieve consistency until at least 1 minute after the producers stop sending messages" (SQS API reference,
    /// `GetQueueAttributes`). So one answer proves nothing, but two that are more than a minute apart do. Fails if SQS
    /// does not answer, or leaves a count out.
    pub async fn is_empty(&self) -> Result<bool, QueueError> {
        // In the order in which a message moves.
        Ok(self.counts_none(&self.orders_url).await? && self.counts_none(&self.dead_letters_url).await?)
    }

    /// Whether SQS counts no dead letter, as sure as above. Fails if SQS does not answer, or leaves a count out.
    pub async fn has_no_dead_letters(&self) -> Result<bool, QueueError> {
        self.counts_none(&self.dead_letters_url).await
    }

    async fn counts_none(&self, url: &str) -> Result<bool, QueueError> {
        Ok(depth(&self.client, url).await?.all() == 0)
    }
}
