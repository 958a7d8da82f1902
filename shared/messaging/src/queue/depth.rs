use std::collections::HashMap;

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
    depth_of(&answer.attributes.unwrap_or_default())
}

/// A missing count is not zero.
fn depth_of(attributes: &HashMap<QueueAttributeName, String>) -> Result<Depth, QueueError> {
    let number = |name| {
        let number = attributes.get(&name).and_then(|text| text.parse().ok());
        number.ok_or(QueueError::Missing("how many messages a queue has"))
    };
    Ok(Depth {
        waiting: number(QueueAttributeName::ApproximateNumberOfMessages)?,
        delayed: number(QueueAttributeName::ApproximateNumberOfMessagesDelayed)?,
        in_flight: number(QueueAttributeName::ApproximateNumberOfMessagesNotVisible)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_is_missing_or_no_number_is_an_error() {
        let mut attributes = HashMap::from([
            (QueueAttributeName::ApproximateNumberOfMessages, "3".to_owned()),
            (QueueAttributeName::ApproximateNumberOfMessagesDelayed, "0".to_owned()),
        ]);
        for third in [None, Some("many"), Some("4")] {
            attributes
                .extend(third.map(|text| (QueueAttributeName::ApproximateNumberOfMessagesNotVisible, text.to_owned())));
            assert_eq!(depth_of(&attributes).ok().map(Depth::all), (third == Some("4")).then_some(7), "{third:?}");
        }
    }
}
