//! Winners of one moment send their messages together, and some give up.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::together::{MOST, Together};
use crate::prelude::*;

/// How often SQS has taken each message. It refuses number 2.
#[derive(Default)]
struct Sqs(Mutex<BTreeMap<u32, usize>>);

impl Sqs {
    async fn send(&self, batch: Vec<u32>) -> Vec<Result<u32, u32>> {
        assert!((1..=MOST).contains(&batch.len()), "a batch is not too large");
        yield_now().await;
        let mut taken = self.0.lock().unwrap();
        batch.into_iter().map(|message| take(&mut taken, message)).collect()
    }
}

fn take(taken: &mut BTreeMap<u32, usize>, message: u32) -> Result<u32, u32> {
    if message == 2 {
        return Err(message);
    }
    *taken.entry(message).or_default() += 1;
    Ok(message)
}

/// Four send at once, and the first may give up. Each of the others hears what became of its own message.
pub fn each_hears_of_its_own_message() {
    let (together, sqs) = (Arc::<Together<u32, Result<u32, u32>>>::default(), Arc::<Sqs>::default());
    let senders: Vec<_> = (0..4)
        .map(|message| {
            let (together, sqs) = (Arc::clone(&together), Arc::clone(&sqs));
            spawn(async move {
                let sent = together.send(message, async |batch| sqs.send(batch).await);
                if message == 0 { until_given_up(sent).await.unwrap_or(Some(Ok(0))) } else { sent.await }
            })
        })
        .collect();
    block_on(async {
        for (message, sender) in (0..).zip(senders) {
            let heard = sender.await.unwrap();
            let own = if message == 2 { Err(2) } else { Ok(message) };
            assert_eq!(heard, Some(own), "each hears of its own message");
            let taken = sqs.0.lock().unwrap().get(&message).copied().unwrap_or_default();
            assert!(taken > 0 || message == 0 || message == 2, "what is taken for sent was sent");
        }
        // Nobody is left behind.
        let alone = together.send(7, async |batch| sqs.send(batch).await).await;
        assert_eq!(alone, Some(Ok(7)), "whoever comes later is not held up");
    });
}

/// More come at once than fit into a batch.
pub fn a_full_batch_goes_at_once() {
    let (together, sqs) = (Arc::<Together<u32, Result<u32, u32>>>::default(), Arc::<Sqs>::default());
    let senders: Vec<_> = (10..35)
        .map(|message| {
            let (together, sqs) = (Arc::clone(&together), Arc::clone(&sqs));
            spawn(async move { together.send(message, async |batch| sqs.send(batch).await).await })
        })
        .collect();
    block_on(async {
        for sender in senders {
            assert!(matches!(sender.await.unwrap(), Some(Ok(_))), "each hears of its own message");
        }
    });
}
