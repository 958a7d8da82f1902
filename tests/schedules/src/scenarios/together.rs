//! Winners of one moment send their messages together, and some give up.
//! Sources: shared/messaging/src/queue/together.rs

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
        let take = |message: u32| {
            if message == 2 {
                return Err(message);
            }
            *taken.entry(message).or_default() += 1;
            Ok(message)
        };
        batch.into_iter().map(take).collect()
    }
}

type State = (Together<u32, Result<u32, u32>>, Sqs);

async fn send((together, sqs): &State, message: u32) -> Option<Result<u32, u32>> {
    together.send(message, async |batch| sqs.send(batch).await).await
}

/// Four send at once, and the first may give up. Each of the others hears what became of its own message.
// Mistake: whoever was in a batch of one who gave up takes its message for sent.
// - Err(_) => continue,
// + Err(_) => return None,
// Mistake: whoever is in a batch hears what became of another's message.
// - answers.into_iter().zip(results)
// + answers.into_iter().rev().zip(results)
pub fn each_hears_of_its_own_message() {
    let state = Arc::<State>::default();
    let heard = at_once(&state, 4, async |state, number| {
        let sent = send(state, number as u32);
        if number == 0 { until_given_up(sent).await.unwrap_or(Some(Ok(0))) } else { sent.await }
    });
    for (message, heard) in (0..).zip(heard) {
        let own = if message == 2 { Err(2) } else { Ok(message) };
        assert_eq!(heard, Some(own), "each hears of its own message");
        let taken = state.1.0.lock().unwrap().get(&message).copied().unwrap_or_default();
        assert!(taken > 0 || message == 0 || message == 2, "what is taken for sent was sent");
    }
    // Nobody is left behind.
    assert_eq!(block_on(send(&state, 7)), Some(Ok(7)), "whoever comes later is not held up");
}

/// More come at once than fit into a batch.
// Mistake "a batch is not too large": a full batch waits like any other.
// - waiting.entries.len() < MOST {
// + waiting.entries.len() < MOST * MOST {
pub fn a_full_batch_goes_at_once() {
    let heard = at_once(&Arc::<State>::default(), 25, async |state, number| send(state, number as u32 + 10).await);
    assert!(heard.iter().all(|heard| matches!(heard, Some(Ok(_)))), "each hears of its own message");
}
