use http::StatusCode;
use lambda_http::{Body, Response};

use super::Code;
use super::sync::{AtomicU64, Ordering};

const GOOD: [(StatusCode, &str); 3] =
    [(StatusCode::OK, "ok"), (StatusCode::CREATED, "created"), (StatusCode::ACCEPTED, "accepted")];
const OTHER: &str = "other";

/// Counts this process's answers by code since the last report. Counting takes no lock.
pub(crate) struct AnswerMetrics {
    problems: [AtomicU64; Code::ALL.len()],
    good: [AtomicU64; GOOD.len()],
    other: AtomicU64,
}

impl AnswerMetrics {
    pub(crate) const fn new() -> Self {
        Self {
            problems: [const { AtomicU64::new(0) }; Code::ALL.len()],
            good: [const { AtomicU64::new(0) }; GOOD.len()],
            other: AtomicU64::new(0),
        }
    }

    pub(crate) fn count(&self, response: &Response<Body>) {
        let good = || GOOD.iter().position(|(status, _)| *status == response.status()).map(|at| &self.good[at]);
        let counter = match response.extensions().get::<Code>() {
            Some(code) => &self.problems[*code as usize],
            None => good().unwrap_or(&self.other),
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports the counts to the `metrics` crate, as `Answers` by `Code`.
    pub(crate) fn report(&self) {
        let problems = Code::ALL.iter().map(|code| code.as_str()).zip(&self.problems);
        let good = GOOD.iter().map(|(_, name)| *name).zip(&self.good);
        for (code, counted) in problems.chain(good).chain([(OTHER, &self.other)]) {
            let count = counted.swap(0, Ordering::Relaxed);
            if count > 0 {
                metrics::counter!("Answers", "Code" => code).increment(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem, json};

    #[test]
    fn every_answer_has_a_place() {
        let answers = AnswerMetrics::new();
        for code in Code::ALL {
            answers.count(&Problem::new(*code).into_response());
        }
        assert!(answers.problems.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        for status in [StatusCode::OK, StatusCode::CREATED, StatusCode::ACCEPTED, StatusCode::NOT_MODIFIED] {
            answers.count(&json(status, &()));
        }
        assert!(answers.good.iter().chain([&answers.other]).all(|count| count.load(Ordering::Relaxed) == 1));
        answers.report();
        assert!(answers.problems.iter().all(|count| count.load(Ordering::Relaxed) == 0), "counted once");
    }
}
