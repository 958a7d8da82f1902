//! Answers are counted by code while the counts are reported.
//! Sources: shared/api/src/answer_metrics.rs

use api::{Code, Problem};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use super::answer_metrics::AnswerMetrics;
use crate::prelude::*;

/// Two answers are given while the counts are reported.
// Mistake "reported once": a count is taken in two steps.
// - let count = counted.swap(0, Ordering::Relaxed);
// + let count = counted.load(Ordering::Relaxed);
// + counted.store(0, Ordering::Relaxed);
pub fn each_answer_is_reported_once() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        let metrics = Arc::new(AnswerMetrics::new());
        let answer =
            async |metrics: &AnswerMetrics, _: usize| metrics.count(&Problem::new(Code::SoldOut).into_response());
        at_once_and(&metrics, 2, answer, async |metrics| metrics.report());
        metrics.report();
    });
    let reported = recorder.snapshotter().snapshot().into_vec().into_iter().map(|(.., value)| match value {
        DebugValue::Counter(count) => count,
        other => panic!("{other:?} is no count"),
    });
    assert_eq!(reported.sum::<u64>(), 2, "each answer is reported once");
}
