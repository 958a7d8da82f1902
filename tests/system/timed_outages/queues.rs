//! Queues whose messages come back on a test's clock.

use crate::prelude::*;
use crate::resources::delete;

/// How long the deployed queues hide a received message, unless a function says otherwise.
const VISIBILITY_TIMEOUT_S: i64 = 180;
/// The longest that SQS allows, so that no message comes back on the machine's clock.
const HIDDEN_S: i32 = 43_200;

/// A message that a function failed to handle.
struct Hidden {
    url: String,
    receipt: String,
    until: EpochMs,
}

/// Does what SQS and Lambda do with the queues: gives messages to functions, and shows failed ones again when it is
/// time.
pub(super) struct Queues {
    sqs: Sqs,
    /// The functions' calls to SQS, to see for how long they put messages off.
    calls: Calls,
    hidden: Vec<Hidden>,
}

impl Queues {
    pub(super) const fn new(sqs: Sqs, calls: Calls) -> Self {
        Self { sqs, calls, hidden: Vec::new() }
    }

    pub(super) fn hidden(&self) -> usize {
        self.hidden.len()
    }

    /// Gives everything that a queue shows at `now` to a function, in batches as Lambda does.
    pub(super) async fn deliver<F>(&mut self, url: &str, now: EpochMs, handle: impl Fn(SqsEvent) -> F)
    where
        F: Future<Output = SqsBatchResponse>,
    {
        loop {
            self.show_again(url, now).await;
            let batches = receive_batches(&self.sqs, url).await;
            if batches.is_empty() {
                return;
            }
            self.calls.take();
            let responses = join_all(batches.iter().map(|messages| handle(events::received(messages)))).await;
            let put_off = self.put_off();
            for (messages, response) in batches.iter().zip(responses) {
                let failed = response.batch_item_failures.iter().map(|failure| &*failure.item_identifier);
                let failed: BTreeSet<&str> = failed.collect();
                for message in messages {
                    if failed.contains(message.message_id().unwrap()) {
                        self.hide(url, message, &put_off, now).await;
                    } else {
                        delete(&self.sqs, url, message).await;
                    }
                }
            }
        }
    }

    /// For how many seconds functions have put messages off, by receipt.
    fn put_off(&self) -> Vec<(String, i64)> {
        let calls = self.calls.take().into_iter().filter(|call| call.target == "AmazonSQS.ChangeMessageVisibility");
        let read =
            |body: Value| Some((body["ReceiptHandle"].as_str()?.to_owned(), body["VisibilityTimeout"].as_i64()?));
        calls.map(|call| read(call.body).expect("it names a receipt and seconds")).collect()
    }

    async fn hide(&mut self, url: &str, message: &Message, put_off: &[(String, i64)], now: EpochMs) {
        let receipt = message.receipt_handle().unwrap();
        let seconds =
            put_off.iter().rfind(|(of, _)| of == receipt).map_or(VISIBILITY_TIMEOUT_S, |(_, seconds)| *seconds);
        self.change_visibility(url, receipt, HIDDEN_S).await;
        let until = EpochMs(now.0 + seconds * 1000);
        self.hidden.push(Hidden { url: url.to_owned(), receipt: receipt.to_owned(), until });
    }

    async fn show_again(&mut self, url: &str, now: EpochMs) {
        let is_due = |hidden: &mut Hidden| hidden.url == url && hidden.until <= now;
        let due: Vec<Hidden> = self.hidden.extract_if(.., is_due).collect();
        for Hidden { receipt, .. } in due {
            self.change_visibility(url, &receipt, 0).await;
        }
    }

    async fn change_visibility(&self, url: &str, receipt: &str, seconds: i32) {
        let change = self.sqs.change_message_visibility().queue_url(url).receipt_handle(receipt);
        change.visibility_timeout(seconds).send().await.unwrap();
    }
}
