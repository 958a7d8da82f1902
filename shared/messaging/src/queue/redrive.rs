use std::time::{Duration, Instant};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, SendMessageBatchRequestEntry};

use crate::queue::depth::depth;
use crate::queue::together::MOST;
use crate::queue::{QueueError, each_of};

/// How long a call goes on to receive. It ends well within its function's time, whatever else is slow.
const GOES_ON_FOR: Duration = Duration::from_secs(10);
/// How long to wait for messages, in seconds. Without any wait SQS asks only some of its servers, and an empty answer
/// says nothing. An attempt of a call lasts three seconds at most.
const WAIT_S: i32 = 1;
/// How long a message that is being moved is hidden from others, in seconds. If moving it fails, it comes back.
const VISIBILITY_S: i32 = 60;
/// The largest batch in bytes. SQS has allowed more since 2025, where the queue's own limit does.
const MAX_BATCH_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redriven {
    pub moved: usize,
    /// Whether there may be more: time was up, or SQS still counts some, such as those that somebody else has received.
    pub may_be_more: bool,
}

/// Moves messages from one queue to another, sending each before deleting it: a crash in between duplicates a message
/// but loses none. Fails if SQS does not answer. Can be repeated.
pub async fn redrive(client: &Client, from_url: &str, to_url: &str) -> Result<Redriven, QueueError> {
    let (mut moved, began) = (0, Instant::now());
    while began.elapsed() < GOES_ON_FOR {
        let receive = client.receive_message().queue_url(from_url).max_number_of_messages(MOST as i32);
        let receive = receive.visibility_timeout(VISIBILITY_S).wait_time_seconds(WAIT_S).send();
        let messages = receive.await.map_err(QueueError::of("ReceiveMessage"))?.messages.unwrap_or_default();
        if messages.is_empty() {
            return Ok(Redriven { moved, may_be_more: depth(client, from_url).await?.all() > 0 });
        }
        for batch in batches(messages) {
            moved += move_batch(client, from_url, to_url, batch).await?;
        }
    }
    Ok(Redriven { moved, may_be_more: true })
}

fn batches(messages: Vec<Message>) -> Vec<Vec<Message>> {
    let (mut batches, mut bytes) = (vec![Vec::new()], 0);
    for message in messages {
        let size = message.body().unwrap_or_default().len();
        if bytes > 0 && bytes + size > MAX_BATCH_BYTES {
            batches.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        batches.last_mut().expect("there is one").push(message);
    }
    batches
}

/// Returns how many messages SQS took. The others come back to where they were, which the count of messages shows.
async fn move_batch(
    client: &Client,
    from_url: &str,
    to_url: &str,
    messages: Vec<Message>,
) -> Result<usize, QueueError> {
    let (count, mut receipts) = (messages.len(), Vec::new());
    let entries = messages.into_iter().enumerate().map(|(at, message)| {
        receipts.push(message.receipt_handle.unwrap_or_default());
        let entry = SendMessageBatchRequestEntry::builder().id(at.to_string());
        entry.message_body(message.body.unwrap_or_default()).build().expect("it has an id and a body")
    });
    let send = client.send_message_batch().queue_url(to_url).set_entries(Some(entries.collect()));
    let sent = send.send().await.map_err(QueueError::of("SendMessageBatch"))?;
    let results = each_of(count, sent.successful.iter().map(|sent| &*sent.id), &sent.failed);
    let deletes: Vec<_> = receipts
        .into_iter()
        .zip(results)
        .enumerate()
        .filter(|(_, (_, result))| result.is_ok())
        .map(|(at, (receipt, _))| DeleteMessageBatchRequestEntry::builder().id(at.to_string()).receipt_handle(receipt))
        .map(|entry| entry.build().expect("it has an id and a receipt"))
        .collect();
    let moved = deletes.len();
    if moved > 0 {
        let delete = client.delete_message_batch().queue_url(from_url).set_entries(Some(deletes));
        // A message that is not deleted comes back, and is sent a second time: that does no harm.
        delete.send().await.map_err(QueueError::of("DeleteMessageBatch"))?;
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_not_too_large() {
        let sizes = [MAX_BATCH_BYTES, 1, 0, MAX_BATCH_BYTES - 1, MAX_BATCH_BYTES * 4, 7];
        let messages = sizes.map(|size| Message::builder().body("x".repeat(size)).build());
        let batches: Vec<usize> = batches(messages.to_vec()).iter().map(Vec::len).collect();
        assert_eq!(batches, [1, 3, 1, 1]);
    }
}
