//! This program's own counts of requests and answers. They prove nothing.

use std::collections::BTreeMap;

use load::Answer;
use serde::Serialize;

/// The step of requests from misbehaving visitors.
pub(super) const MISBEHAVE: &str = "misbehave";

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Counts {
    pub(super) visitors: u64,
    /// By step, and then by answer.
    pub(super) answers: BTreeMap<&'static str, BTreeMap<String, u64>>,
    pub(super) by_side: BTreeMap<&'static str, u64>,
    /// Requests for a unit while there were two sides.
    pub(super) side_by_side: BTreeMap<&'static str, u64>,
    pub(super) reserved: u64,
    /// How reservations ended, if the visitor stayed until then.
    pub(super) ended: BTreeMap<String, u64>,
    pub(super) calm_requests: u64,
    pub(super) calm_errors: BTreeMap<String, u64>,
    /// Attempts of misbehaving visitors that were refused as such, not by a rate limit.
    pub(super) refused: u64,
    /// Answers to misbehaving visitors that they should not have got.
    pub(super) got_away_with: Vec<String>,
}

impl Counts {
    /// Counts an answer; `calm` if nothing disturbed the system around it.
    pub(super) fn heard(&mut self, step: &'static str, side: &'static str, answer: &Answer, calm: bool) {
        *self.answers.entry(step).or_default().entry(answer.to_string()).or_default() += 1;
        *self.by_side.entry(side).or_default() += 1;
        // A misbehaving visitor may send a good pass for a round that does not exist. It looks like a lost one.
        if calm && step != MISBEHAVE {
            self.calm_requests += 1;
            // Operators pause sales on purpose.
            if answer.is_error() && answer.code != "paused" {
                *self.calm_errors.entry(format!("{step}: {answer}")).or_default() += 1;
            }
        }
    }

    pub(super) fn ended(&mut self, how: &str) {
        *self.ended.entry(how.to_owned()).or_default() += 1;
    }
}
