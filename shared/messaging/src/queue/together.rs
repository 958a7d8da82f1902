use std::time::Duration;

use super::sync::{AsyncMutex, Mutex, PoisonError, oneshot, timeout};

/// The largest number of entries in a batch (SQS API reference, `SendMessageBatch`).
pub(crate) const MOST: usize = 10;
/// The longest wait for the batch before, so that a slow one holds up nobody for longer.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Sends what comes while something is being sent in one batch after it. An entry that comes alone goes at once.
pub(crate) struct Together<T, R> {
    waiting: Mutex<Waiting<T, R>>,
    /// Held by whoever sends, as long as that takes.
    sending: AsyncMutex<()>,
}

struct Waiting<T, R> {
    entries: Vec<Entry<T, R>>,
    /// How many entries there were before.
    came: u64,
}

struct Entry<T, R> {
    number: u64,
    what: T,
    answer: oneshot::Sender<R>,
}

impl<T, R> Default for Together<T, R> {
    fn default() -> Self {
        Self { waiting: Mutex::new(Waiting { entries: Vec::new(), came: 0 }), sending: AsyncMutex::default() }
    }
}

impl<T: Clone, R> Together<T, R> {
    /// Sends an entry, alone or with others: `send` gets a batch and returns one result for each, in their order. If the
    /// one who sends a batch gives up, the others in it send theirs again.
    pub(crate) async fn send<F>(&self, what: T, send: impl FnOnce(Vec<T>) -> F) -> Option<R>
    where
        F: Future<Output = Vec<R>>,
    {
        loop {
            let (answer, heard) = oneshot::channel();
            let (number, mut batch) = self.wait(what.clone(), answer);
            let mut turn = None;
            if batch.is_empty() {
                turn = timeout(LONGEST_WAIT, self.sending.lock()).await.ok();
                batch = self.take_with(number);
            }
            if batch.is_empty() {
                drop(turn);
                match heard.await {
                    Ok(result) => return Some(result),
                    Err(_) => continue,
                }
            }
            let (entries, answers): (Vec<T>, Vec<_>) =
                batch.into_iter().map(|Entry { what, answer, .. }| (what, answer)).unzip();
            let results = send(entries).await;
            for (answer, result) in answers.into_iter().zip(results) {
                // Whoever has given up does not want to know.
                let _ = answer.send(result);
            }
            return heard.await.ok();
        }
    }

    /// Adds an entry. Returns its number, and all that wait if that is a full batch now, so that it never grows larger.
    fn wait(&self, what: T, answer: oneshot::Sender<R>) -> (u64, Vec<Entry<T, R>>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.came += 1;
        let number = waiting.came;
        waiting.entries.push(Entry { number, what, answer });
        (number, if waiting.entries.len() < MOST { Vec::new() } else { waiting.take() })
    }

    /// Takes all that wait. Nothing if another has taken entry `number`.
    fn take_with(&self, number: u64) -> Vec<Entry<T, R>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.entries.iter().any(|entry| entry.number == number) {
            return Vec::new();
        }
        waiting.take()
    }
}

impl<T, R> Waiting<T, R> {
    /// All entries, but for those of senders who have given up.
    fn take(&mut self) -> Vec<Entry<T, R>> {
        let mut batch = std::mem::take(&mut self.entries);
        batch.retain(|entry| !entry.answer.is_closed());
        batch
    }
}
