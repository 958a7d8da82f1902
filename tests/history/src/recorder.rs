//! Records what clients ask and hear.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::record::{Answer, Clocks, History, Name, Operation, Question};

/// The most refusals that are kept, at 80 bytes each. The rest are dropped; all that goes unchecked is their own answers.
/// All other operations are kept.
const MOST_REFUSALS: usize = 4_000_000;
/// How far apart two clocks of one machine may seem: they are not read at once, and one counts milliseconds.
const READ_WITHIN_MS: u32 = 5;

/// Records operations of any number of clients. Clones record into the same history.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    zero_ms: i64,
    history: Mutex<Recorded>,
}

#[derive(Debug, Default)]
struct Recorded {
    history: History,
    refusals: usize,
}

/// A request that was sent. Dropped without an answer, as when a client gives up, it may still take effect.
#[derive(Debug)]
#[must_use = "a request without an answer may still take effect"]
pub struct Asking {
    recorder: Recorder,
    /// None once the answer is recorded.
    unanswered: Option<Operation>,
}

fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Default for Recorder {
    fn default() -> Self {
        Self(Arc::new(Shared { began: Instant::now(), zero_ms: wall_ms(), history: Mutex::default() }))
    }
}

impl Recorder {
    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub fn ask(&self, round: &str, user: &str, question: Question) -> Asking {
        let (round, user, answer) = (Name::of(round), Name::of(user), Answer::Unknown);
        let operation = Operation { round, user, question, call_ns: self.now_ns(), return_ns: None, answer };
        Asking { recorder: self.clone(), unanswered: Some(operation) }
    }

    /// Compares this machine's wall clock with the recorder's own. They may differ by as much as the wall clock was set
    /// or slewed since the start.
    pub fn clocks(&self) -> Clocks {
        let ran_ms = i64::try_from(self.now_ns() / 1_000_000).unwrap_or(i64::MAX);
        let drift_ms = (wall_ms() - ran_ms).abs_diff(self.0.zero_ms);
        let within_ms = u32::try_from(drift_ms).unwrap_or(u32::MAX).saturating_add(READ_WITHIN_MS);
        Clocks::Together { zero_ms: self.0.zero_ms, within_ms }
    }

    /// Takes the history. Requests still under way are not in it, so call this once all have ended.
    pub fn take(&self) -> History {
        std::mem::take(&mut self.recorded().history)
    }

    fn keep(&self, operation: Operation) {
        let mut recorded = self.recorded();
        let is_refused = matches!(operation.answer, Answer::Refused(_));
        recorded.refusals += usize::from(is_refused);
        if !is_refused || recorded.refusals <= MOST_REFUSALS {
            recorded.history.operations.push(operation);
        }
    }
}

impl Asking {
    pub fn hears(mut self, answer: Answer) {
        if let Some(operation) = self.unanswered.take() {
            let return_ns = Some(self.recorder.now_ns());
            self.recorder.keep(Operation { return_ns, answer, ..operation });
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(operation) = self.unanswered {
            self.recorder.keep(operation);
        }
    }
}
