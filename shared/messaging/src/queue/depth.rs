use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;
use serde::Serialize;

use crate::queue::QueueError;

/// How many messages a queue has, roughly, as SQS counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Depth {
    /// Visible messages.
    pub waiting: u64,
    /// Messages that are not visible yet.
    pub delayed: u64,
    /// Messages that were received and not deleted.
    pub in_flight: u64,
}

impl Depth {
    pub const fn all(self) -> u64 {
        self.waiting + self.delayed + self.in_flight
    }
}

pub async fn depth(client: &Client, url: &str) -> Result<Depth, QueueError> {
    let answer = client
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(QueueAttributeName::ApproximateNumberOfMessages)
        .attribute_names(QueueAttributeName::ApproximateNumberOfMessagesDelayed)
        .attribute_names(QueueAttributeName::ApproximateNumberOfMessagesNotVisible)
        .send()
        .await
        .map_err(QueueError::of("GetQueueAttributes"))?;
    let attributes = answer.attributes.unwrap_or_default();
    let number = |name: &QueueAttributeName| {
        // A missing count is not zero.
        let number = attributes.get(name).and_then(|text| text.parse().ok());
        number.ok_or(QueueError::Missing("how many messages a queue has"))
    };
    Ok(Depth {
        waiting: number(&QueueAttributeName::ApproximateNumberOfMessages)?,
        delayed: number(&QueueAttributeName::ApproximateNumberOfMessagesDelayed)?,
        in_flight: number(&QueueAttributeName::ApproximateNumberOfMessagesNotVisible)?,
    })
}
