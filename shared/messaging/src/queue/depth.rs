use std::collections::HashMap;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;
use serde::Serialize;

use crate::queue::QueueError;

const WAITING: QueueAttributeName = QueueAttributeName::ApproximateNumberOfMessages;
const DELAYED: QueueAttributeName = QueueAttributeName::ApproximateNumberOfMessagesDelayed;
const IN_FLIGHT: QueueAttributeName = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;

/// How many messages a queue has, roughly, as SQS counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Depth {
    pub waiting: u64,
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
    let asked = client.get_queue_attributes().queue_url(url);
    let asked = asked.set_attribute_names(Some(vec![WAITING, DELAYED, IN_FLIGHT])).send().await;
    let answer = asked.map_err(QueueError::of("GetQueueAttributes"))?;
    depth_of(&answer.attributes.unwrap_or_default())
}

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

/// A missing count is not zero.
fn depth_of(attributes: &HashMap<QueueAttributeName, String>) -> Result<Depth, QueueError> {
    let number = |name| {
        let number = attributes.get(&name).and_then(|text| text.parse().ok());
        number.ok_or(QueueError::Missing("how many messages a queue has"))
    };
    Ok(Depth { waiting: number(WAITING)?, delayed: number(DELAYED)?, in_flight: number(IN_FLIGHT)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_is_missing_or_no_number_is_an_error() {
        let mut attributes = HashMap::from([(WAITING, "3".to_owned()), (DELAYED, "0".to_owned())]);
        for third in [None, Some("many"), Some("4")] {
            attributes.extend(third.map(|text| (IN_FLIGHT, text.to_owned())));
            assert_eq!(depth_of(&attributes).ok().map(Depth::all), (third == Some("4")).then_some(7), "{third:?}");
        }
    }
}
