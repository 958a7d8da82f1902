use std::time::Duration;

use super::sync::{Clock, Moment, Mutex, MutexGuard, PoisonError};

/// How many recent calls are considered, once there are as many.
pub(crate) const WINDOW: usize = 8;
/// How many of them without an answer open the breaker: a part that answers every second call is no use.
const TOO_MANY: usize = WINDOW / 2;
/// How long it stays open before one trial call. Short, since it may have been a failover. It also passes while Lambda
/// freezes the process: counted in running time alone, a quiet process would stay open for minutes.
pub(crate) const WAIT: Duration = Duration::from_secs(1);

/// The state of a breaker: how the last calls ended, or that it is open.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the last calls were answered, oldest first.
    answered: Vec<bool>,
    opened: Option<Opened>,
    /// How often the state changed. A call that began before a change says nothing about the time after it.
    changes: u64,
}

#[derive(Debug)]
struct Opened {
    since: Moment,
    /// Whether there is a trial call: the others would wait with it.
    has_trial: bool,
}

/// A permitted call. It reports how it ended, or counts as abandoned if it is dropped.
pub(crate) struct Call<'a> {
    watch: &'a Watch,
    changes: u64,
    is_trial: bool,
    clock: Clock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Opened,
    Closed,
}

impl Watch {
    pub(crate) fn begin(&self, clock: Clock) -> Option<Call<'_>> {
        let mut state = self.lock();
        let is_trial = match &mut state.opened {
            None => false,
            Some(opened) => {
                if opened.has_trial || Moment::now(clock).since(opened.since) < WAIT {
                    return None;
                }
                opened.has_trial = true;
                true
            }
        };
        Some(Call { watch: self, changes: state.changes, is_trial, clock })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call<'_> {
    pub(crate) fn end(self, is_answered: bool) -> Change {
        let mut state = self.watch.lock();
        if self.changes != state.changes {
            return Change::None;
        }
        if !self.is_trial {
            if state.answered.len() == WINDOW {
                state.answered.remove(0);
            }
            state.answered.push(is_answered);
            let is_full = state.answered.len() == WINDOW;
            let unanswered = state.answered.iter().filter(|answered| !**answered).count();
            // An answer never opens it, even if it completes the number of calls that are considered.
            if is_answered || !is_full || unanswered < TOO_MANY {
                return Change::None;
            }
        }
        let (opened, change) = if is_answered {
            (None, Change::Closed)
        } else {
            let since = Moment::now(self.clock);
            (Some(Opened { since, has_trial: false }), if self.is_trial { Change::None } else { Change::Opened })
        };
        *state = State { answered: Vec::new(), opened, changes: state.changes + 1 };
        change
    }
}

impl Drop for Call<'_> {
    /// An abandoned trial call is left to the next caller.
    fn drop(&mut self) {
        if !self.is_trial {
            return;
        }
        let mut state = self.watch.lock();
        if self.changes == state.changes
            && let Some(opened) = &mut state.opened
        {
            opened.has_trial = false;
        }
    }
}
