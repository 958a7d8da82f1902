//! This program's own count of what was asked and heard. Nothing is proved by it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use load::Answer;
use serde::Serialize;

/// What is asked by those who misbehave.
pub(super) const MISBEHAVE: &str = "misbehave";

/// What was counted.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Counts {
    pub(super) visitors: u64,
    /// By what was asked, and then by the answer.
    pub(super) answers: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Requests of each side.
    pub(super) by_side: BTreeMap<&'static str, u64>,
    /// And those that asked for a unit while both were there.
    pub(super) side_by_side: BTreeMap<&'static str, u64>,
    pub(super) reserved: u64,
    /// How reservations ended, as far as their visitors stayed to see it.
    pub(super) ended: BTreeMap<String, u64>,
    pub(super) calm_requests: u64,
    pub(super) calm_errors: BTreeMap<String, u64>,
    /// Answers to those who misbehave that none of them should get.
    pub(super) got_away_with: Vec<String>,
}

/// Counts from many tasks.
#[derive(Default)]
pub(super) struct Tally(Mutex<Counts>);

impl Tally {
    pub(super) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request got an answer; `calm` if nothing happened around it.
    pub(super) fn heard(&self, step: &'static str, side: &'static str, answer: &Answer, calm: bool) {
        let mut counts = self.counts();
        *counts.answers.entry(step).or_default().entry(answer.to_string()).or_default() += 1;
        *counts.by_side.entry(side).or_default() += 1;
        // Whoever misbehaves may have shown a good pass of a round that is not there, which may as well be lost.
        if calm && step != MISBEHAVE {
            counts.calm_requests += 1;
            // That a sale is paused is what an operator wanted.
            if answer.is_error() && answer.code != "paused" {
                *counts.calm_errors.entry(format!("{step}: {answer}")).or_default() += 1;
            }
        }
    }

    pub(super) fn ended(&self, how: &str) {
        *self.counts().ended.entry(how.to_owned()).or_default() += 1;
    }
}
