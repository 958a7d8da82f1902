//! The result of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::answer::Answer;

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How many users came.
    pub users: usize,
    /// From the first user's arrival to the last answer.
    pub took: Duration,
    /// Requests sent: all that were answered or failed, and those that were not waited for.
    pub sent: u64,
    /// Answers of 500 and above, and requests without an answer.
    pub errors: u64,
    /// Counts by step and answer.
    pub answers: Vec<Answered>,
    /// Why there was no answer, by code.
    pub failures: BTreeMap<&'static str, Seen>,
    /// The figures of each second.
    pub seconds: Vec<Second>,
    /// Latencies of all answers, in microseconds.
    pub latency_us: Histogram<u64>,
    /// The users who went through the gate.
    pub gate: Gate,
    /// How late each user came, in microseconds. If that is long, this machine was too slow to send.
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
    /// Latencies in microseconds, counted from when the request was due.
    pub latency_us: Histogram<u64>,
}

/// A failure that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// The message of one of them.
    pub example: String,
}

/// The users who went through the gate, with a proof of work that this machine computed for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gate {
    /// How many came to it.
    pub came: u64,
    /// How many of them got a pass.
    pub passed: u64,
    /// How many of them got none. The others had not finished when the run ended.
    pub refused: u64,
    /// The time after the last user came in which every user who was left waited for a proof. The server had nothing to
    /// do then, so rates do not count it.
    pub alone: Duration,
}

impl Gate {
    /// How many had not finished when the run ended.
    pub const fn unfinished(&self) -> u64 {
        self.came.saturating_sub(self.passed + self.refused)
    }
}

/// One second of a run.
#[derive(Debug, Clone, Default)]
pub struct Second {
    /// Requests that were sent.
    pub sent: u64,
    /// The answers in this second, with their counts.
    pub answers: Vec<(Answer, u64)>,
    /// How many of them were errors.
    pub errors: u64,
    /// Median latency, if there were answers.
    pub p50_ms: Option<f64>,
    /// The 99th percentile of the latency.
    pub p99_ms: Option<f64>,
}

/// Why a run did not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Too many answers were errors, so it ended early.
    Errors,
    /// It ran to the end, but too many answers were errors.
    Failed,
    /// It was interrupted.
    Interrupted,
    /// It was stopped because some users had not finished long after the last one came.
    Patience,
}

impl Answered {
    /// How often it was given.
    pub fn count(&self) -> u64 {
        self.latency_us.len()
    }

    /// The latency in milliseconds at this quantile.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        quantile_ms(&self.latency_us, quantile)
    }
}

impl Second {
    /// Answers received.
    pub fn answered(&self) -> u64 {
        self.answers.iter().map(|(_, count)| count).sum()
    }
}

impl Outcome {
    /// Answers received, and failed requests.
    pub fn answered(&self) -> u64 {
        self.latency_us.len()
    }

    /// Answers a second, over the whole run except for [`Gate::alone`].
    pub fn per_s(&self) -> f64 {
        self.answered() as f64 / self.took.saturating_sub(self.gate.alone).as_secs_f64()
    }

    /// Answers in the busiest second.
    pub fn peak_per_s(&self) -> u64 {
        self.seconds.iter().map(Second::answered).max().unwrap_or(0)
    }

    /// How often an answer of this status was given.
    pub fn count(&self, status: u16) -> u64 {
        self.answers.iter().filter(|each| each.answer.status == Some(status)).map(Answered::count).sum()
    }

    /// The answers regardless of the step, most frequent first.
    pub fn by_answer(&self) -> Vec<(Answer, Histogram<u64>)> {
        let mut by: BTreeMap<&Answer, Histogram<u64>> = BTreeMap::new();
        for each in &self.answers {
            match by.get_mut(&each.answer) {
                // Only fails if the values do not fit, and all of these histograms grow.
                Some(latency) => drop(latency.add(&each.latency_us)),
                None => drop(by.insert(&each.answer, each.latency_us.clone())),
            }
        }
        let mut by: Vec<_> = by.into_iter().map(|(answer, latency)| (answer.clone(), latency)).collect();
        by.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.len()));
        by
    }
}

/// A quantile, in milliseconds, of a histogram of microseconds.
pub(crate) fn quantile_ms(latency_us: &Histogram<u64>, quantile: f64) -> f64 {
    latency_us.value_at_quantile(quantile) as f64 / 1e3
}
