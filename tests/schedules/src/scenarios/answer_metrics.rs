//! Answers are counted by code while the counts are reported.

use api::{Code, Problem};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use super::answer_metrics::AnswerMetrics;
use crate::prelude::*;

/// Two answers are given while the counts are reported.
pub fn each_answer_is_reported_once() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        let metrics = Arc::new(AnswerMetrics::new());
        let answers = [(); 2].map(|()| {
            let metrics = Arc::clone(&metrics);
            thread::spawn(move || metrics.count(&Problem::new(Code::SoldOut).into_response()))
        });
        metrics.report();
        for answer in answers {
            answer.join().unwrap();
        }
        metrics.report();
    });
    let reported = recorder.snapshotter().snapshot().into_vec().into_iter().map(|(.., value)| match value {
        DebugValue::Counter(count) => count,
        other => panic!("{other:?} is no count"),
    });
    assert_eq!(reported.sum::<u64>(), 2, "each answer is reported once");
}
