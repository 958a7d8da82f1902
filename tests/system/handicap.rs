use std::sync::PoisonError;

use crate::prelude::*;

/// The least and the most by which the winner of a race starts later the next time.
const STEPS_US: std::ops::RangeInclusive<i64> = 500..=64_000;

/// Keeps two racers close to each other on any machine: the winner starts a little later the next time, and much later if
/// it keeps winning.
#[derive(Debug, Default)]
pub(crate) struct Handicap(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// How much later the first one starts; negative if the second one does.
    first_us: i64,
    step_us: i64,
    first_won_last: Option<bool>,
}

impl Handicap {
    /// How long the first and the second wait before they start.
    pub(crate) fn waits(&self) -> (Duration, Duration) {
        let first_us = self.0.lock().unwrap_or_else(PoisonError::into_inner).first_us;
        let wait = |us: i64| Duration::from_micros(us.max(0).unsigned_abs());
        (wait(first_us), wait(-first_us))
    }

    pub(crate) fn note(&self, first_won: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let again = state.first_won_last == Some(first_won);
        let step_us = if again { state.step_us * 2 } else { state.step_us / 2 };
        state.step_us = step_us.clamp(*STEPS_US.start(), *STEPS_US.end());
        state.first_us += if first_won { state.step_us } else { -state.step_us };
        state.first_won_last = Some(first_won);
    }
}
