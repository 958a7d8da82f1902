//! Answers are counted, and each requests a flush.
//! Sources: shared/process/src/answer_counts.rs shared/process/src/debounce.rs

use std::sync::atomic::AtomicU64;

use super::answer_counts::AnswerCounts;
use super::debounce::Debounce;
use crate::prelude::*;

/// One process's counts, and what it has flushed.
#[derive(Default)]
struct Process {
    counts: AnswerCounts,
    debounce: Debounce,
    flushed: AtomicU64,
    /// Flushes that have begun, and those that have ended.
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Process {
    fn answer(self: &Arc<Self>, code: &'static str) {
        self.counts.count(code);
        self.debounce.ask(Duration::from_secs(1), || {
            let process = Arc::clone(self);
            process.begun.fetch_add(1, Relaxed);
            async move {
                let counts = process.counts.take();
                step();
                process.flushed.fetch_add(counts.values().sum(), Relaxed);
                process.ended.fetch_add(1, Relaxed);
            }
        });
    }
}

/// Three requests are answered, and no others follow.
// Mistake: a request for a flush that comes during a flush is lost.
// - asked.store(false, Ordering::Release);
// - work.await;
// + work.await;
// + asked.store(false, Ordering::Release);
// Mistake: the counts are copied under one lock and cleared under another.
// - std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
// + let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
// + self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
// + counts
pub fn each_answer_is_flushed_once() {
    let process = Arc::<Process>::default();
    let answer =
        async |process: &Arc<Process>, number: usize| process.answer(["sold_out", "sold_out", "paused"][number]);
    at_once(&Arc::new(Arc::clone(&process)), 3, answer);
    while process.ended.load(Relaxed) < process.begun.load(Relaxed) {
        thread::yield_now();
    }
    assert_eq!(process.flushed.load(Relaxed), 3, "each answer is flushed once");
}
