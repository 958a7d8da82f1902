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
