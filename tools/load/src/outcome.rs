//! The result of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::answer::Answer;

#[derive(Debug, Clone)]
pub struct Outcome {
    pub users: usize,
    /// From the first user's arrival to the last answer.
    pub took: Duration,
    /// Requests sent: all that were answered or failed, and those that were not waited for.
    pub sent: u64,
    /// Answers of 500 and above, and requests without an answer.
    pub errors: u64,
    /// Latencies of each answer to a step, in microseconds, counted from when the request was due.
    pub answers: BTreeMap<(&'static str, Answer), Histogram<u64>>,
    pub failures: BTreeMap<&'static str, Seen>,
    pub seconds: Vec<Second>,
    pub latency_us: Histogram<u64>,
    pub gate: Gate,
    /// How late each user came, in microseconds. If that is long, this machine was too slow to send.
    pub behind_us: Histogram<u64>,
    pub stopped: Option<Stopped>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    pub count: u64,
    pub example: String,
}

/// The users who went through the gate, with a proof of work that this machine computed for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gate {
    pub came: u64,
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

#[derive(Debug, Clone, Default)]
pub struct Second {
    pub sent: u64,
    pub answers: BTreeMap<Answer, u64>,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    Errors,
    /// It ran to the end, but too many answers were errors.
    Failed,
    Interrupted,
    /// It was stopped because some users had not finished long after the last one came.
    Patience,
}

impl Second {
    pub fn answered(&self) -> u64 {
        self.answers.values().sum()
    }
}

impl Outcome {
    pub(crate) fn nothing_yet() -> Self {
        Self {
            users: 0,
            took: Duration::ZERO,
            sent: 0,
            errors: 0,
            answers: BTreeMap::new(),
            failures: BTreeMap::new(),
            seconds: Vec::new(),
            latency_us: histogram(),
            gate: Gate::default(),
            behind_us: histogram(),
            stopped: None,
        }
    }

    /// Answers received, and failed requests.
    pub fn answered(&self) -> u64 {
        self.latency_us.len()
    }

    /// Answers a second, over the whole run except for [`Gate::alone`].
    pub fn per_s(&self) -> f64 {
        self.answered() as f64 / self.took.saturating_sub(self.gate.alone).as_secs_f64()
    }

    pub fn peak_per_s(&self) -> u64 {
        self.seconds.iter().map(Second::answered).max().unwrap_or(0)
    }

    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        quantile_ms(&self.latency_us, quantile)
    }

    pub fn count(&self, status: u16) -> u64 {
        let counted = self.answers.iter().filter(|((_, answer), _)| answer.status == Some(status));
        counted.map(|(_, latency_us)| latency_us.len()).sum()
    }

    /// The answers regardless of the step, most frequent first.
    pub fn by_answer(&self) -> Vec<(Answer, Histogram<u64>)> {
        let mut by: BTreeMap<&Answer, Histogram<u64>> = BTreeMap::new();
        for ((_, answer), latency_us) in &self.answers {
            match by.get_mut(answer) {
                // Only fails if the values do not fit, and all of these histograms grow.
                Some(latency) => drop(latency.add(latency_us)),
                None => drop(by.insert(answer, latency_us.clone())),
            }
        }
        let mut by: Vec<_> = by.into_iter().map(|(answer, latency)| (answer.clone(), latency)).collect();
        by.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.len()));
        by
    }
}

/// An empty histogram of microseconds, with three significant digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are fine")
}

/// A quantile, in milliseconds, of a histogram of microseconds.
pub(crate) fn quantile_ms(latency_us: &Histogram<u64>, quantile: f64) -> f64 {
    latency_us.value_at_quantile(quantile) as f64 / 1e3
}
