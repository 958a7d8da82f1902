//! Answers are counted, and each requests a flush.

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
            process.begun.fetch_add(1, Ordering::Relaxed);
            async move {
                let counts = process.counts.take();
                step();
                process.flushed.fetch_add(counts.values().sum(), Ordering::Relaxed);
                process.ended.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
}

/// Three requests are answered, and no others follow.
pub fn each_answer_is_flushed_once() {
    let process = Arc::<Process>::default();
    let requests = ["sold_out", "sold_out", "paused"].map(|code| {
        let process = Arc::clone(&process);
        thread::spawn(move || process.answer(code))
    });
    for request in requests {
        request.join().unwrap();
    }
    while process.ended.load(Ordering::Relaxed) < process.begun.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    assert_eq!(process.flushed.load(Ordering::Relaxed), 3, "each answer is flushed once");
}
