use aws_sdk_sqs::Client;

use crate::QueueError;

/// How many messages are received at once: SQS's maximum.
const BATCH: i32 = 10;
/// How many batches a call moves, so that it ends within its function's time.
const MAX_BATCHES: usize = 20;
/// How long a message that is being moved is hidden from others, in seconds. If moving it fails, it comes back.
const VISIBILITY_S: i32 = 60;

/// Moves messages from one queue to another, sending each before deleting it: a crash in between duplicates a message
/// but loses none. Returns how many were moved; there may be more.
///
/// # Errors
/// If SQS does not answer. Can be repeated.
pub async fn redrive(client: &Client, from_url: &str, to_url: &str) -> Result<usize, QueueError> {
    let mut moved = 0;
    for _ in 0..MAX_BATCHES {
        let received = client
            .receive_message()
            .queue_url(from_url)
            .max_number_of_messages(BATCH)
            .visibility_timeout(VISIBILITY_S)
            .send()
            .await
            .map_err(QueueError::of("ReceiveMessage"))?;
        let messages = received.messages.unwrap_or_default();
        if messages.is_empty() {
            break;
        }
        for message in messages {
            let body = message.body.unwrap_or_default();
            client
                .send_message()
                .queue_url(to_url)
                .message_body(body)
                .send()
                .await
                .map_err(QueueError::of("SendMessage"))?;
            client
                .delete_message()
                .queue_url(from_url)
                .receipt_handle(message.receipt_handle.unwrap_or_default())
                .send()
                .await
                .map_err(QueueError::of("DeleteMessage"))?;
            moved += 1;
        }
    }
    Ok(moved)
}
