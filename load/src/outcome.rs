//! What a run came to.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::answer::Answer;

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How many users came.
    pub users: usize,
    /// From the first user's arrival to the last answer.
    pub took: Duration,
    /// Requests that were sent: as many as all answers together, and those that were not waited for.
    pub sent: u64,
    /// Answers of 500 and above, and requests without an answer.
    pub errors: u64,
    /// By step and answer.
    pub answers: Vec<Answered>,
    /// Why there was no answer, by code.
    pub failures: BTreeMap<&'static str, Seen>,
    /// Second by second.
    pub seconds: Vec<Second>,
    /// Latencies of all answers, in microseconds.
    pub latency_us: Histogram<u64>,
    /// How long after its moment each user came, in microseconds. If that is long, this machine was too slow to send.
    pub behind_us: Histogram<u64>,
    /// Why it did not end well.
    pub stopped: Option<Stopped>,
}

/// One answer to one kind of request.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The kind of request.
    pub step: &'static str,
    /// The answer.
    pub answer: Answer,
    /// Each one's latency in microseconds, counted from when the request was due.
    pub latency_us: Histogram<u64>,
}

/// A failure that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// What one of them said.
    pub example: String,
}

/// One second of a run.
#[derive(Debug, Clone, Default)]
pub struct Second {
    /// Requests that were sent.
    pub sent: u64,
    /// Answers that came, each with how often it did.
    pub answers: Vec<(Answer, u64)>,
    /// How many of them were errors.
    pub errors: u64,
    /// Median latency, if there were answers.
    pub p50_ms: Option<f64>,
    /// The latency that 99 of 100 stayed within.
    pub p99_ms: Option<f64>,
}

/// Why a run did not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Too many of the answers were errors, so it ended early.
    Errors,
    /// It ended by itself, and too many of the answers were errors.
    Failed,
    /// It was told to end early.
    Interrupted,
    /// It ended early, since some users had not finished long after the last one came.
    Patience,
}

impl Answered {
    /// How often it was given.
    pub fn count(&self) -> u64 {
        self.latency_us.len()
    }

    /// The latency, in milliseconds, that this part of the answers stayed within.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        quantile_ms(&self.latency_us, quantile)
    }
}

impl Second {
    /// Answers that came.
    pub fn answered(&self) -> u64 {
        self.answers.iter().map(|(_, count)| count).sum()
    }
}

impl Outcome {
    /// Answers that came, and requests that failed.
    pub fn answered(&self) -> u64 {
        self.latency_us.len()
    }

    /// Answers a second, over all of it.
    pub fn per_s(&self) -> f64 {
        self.answered() as f64 / self.took.as_secs_f64()
    }

    /// Answers in the busiest second.
    pub fn peak_per_s(&self) -> u64 {
        self.seconds.iter().map(Second::answered).max().unwrap_or(0)
    }

    /// How often an answer of this status was given.
    pub fn count(&self, status: u16) -> u64 {
        self.answers.iter().filter(|each| each.answer.status == Some(status)).map(Answered::count).sum()
    }

    /// The answers whatever they were for, the most frequent first.
    pub fn by_answer(&self) -> Vec<(Answer, Histogram<u64>)> {
        let mut by: BTreeMap<&Answer, Histogram<u64>> = BTreeMap::new();
        for each in &self.answers {
            match by.get_mut(&each.answer) {
                // Fails only if the values do not fit, and all of these histograms grow.
                Some(latency) => drop(latency.add(&each.latency_us)),
                None => drop(by.insert(&each.answer, each.latency_us.clone())),
            }
        }
        let mut by: Vec<_> = by.into_iter().map(|(answer, latency)| (answer.clone(), latency)).collect();
        by.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.len()));
        by
    }
}

/// The latency, in milliseconds, that this part of a histogram of microseconds stayed within.
pub(crate) fn quantile_ms(latency_us: &Histogram<u64>, quantile: f64) -> f64 {
    latency_us.value_at_quantile(quantile) as f64 / 1e3
}
