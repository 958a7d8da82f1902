use std::time::Duration;

use super::sync::{Clock, Moment, Mutex, MutexGuard, PoisonError};

/// How many recent calls are considered, once there are as many.
pub(crate) const LOOKED_AT: usize = 8;
/// How many of them without an answer open the breaker: a part that answers every second call is no use.
const TOO_MANY: usize = LOOKED_AT / 2;
/// How long it is left alone before one call tries. Short, since it may have been a failover. It also passes while Lambda
/// freezes the process: by the time in which a quiet one runs, it would be left alone for minutes.
pub(crate) const WAIT: Duration = Duration::from_secs(1);

/// The state of a breaker: how the last calls ended, or that it is open.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the last calls were answered, oldest first.
    answered: Vec<bool>,
    left_alone: Option<LeftAlone>,
    /// How often the state changed. A call that began before a change says nothing about the time after it.
    changes: u64,
}

#[derive(Debug)]
struct LeftAlone {
    since: Moment,
    /// Whether a call tries: the others would wait with it.
    tried: bool,
}

/// A permitted call. It reports how it ended, or counts as abandoned if it is dropped.
pub(crate) struct Call<'a> {
    watch: &'a Watch,
    changes: u64,
    tries: bool,
    clock: Clock,
}

/// How the end of a call changes the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// No change.
    None,
    /// It is open from now on.
    LeftAlone,
    /// It is closed again.
    Back,
}

impl Watch {
    /// Whether a call may be made now.
    pub(crate) fn begin(&self, clock: Clock) -> Option<Call<'_>> {
        let mut state = self.lock();
        let tries = match &mut state.left_alone {
            None => false,
            Some(left_alone) => {
                if left_alone.tried || Moment::now(clock).since(left_alone.since) < WAIT {
                    return None;
                }
                left_alone.tried = true;
                true
            }
        };
        Some(Call { watch: self, changes: state.changes, tries, clock })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call<'_> {
    /// Reports how the call ended.
    pub(crate) fn end(self, is_answered: bool) -> Change {
        let mut state = self.watch.lock();
        if self.changes != state.changes {
            return Change::None;
        }
        if !self.tries {
            if state.answered.len() == LOOKED_AT {
                state.answered.remove(0);
            }
            state.answered.push(is_answered);
            let is_full = state.answered.len() == LOOKED_AT;
            if !is_full || state.answered.iter().filter(|answered| !**answered).count() < TOO_MANY {
                return Change::None;
            }
        }
        let (left_alone, change) = match (is_answered, self.tries) {
            (true, true) => (None, Change::Back),
            (_, tries) => {
                let since = Moment::now(self.clock);
                (Some(LeftAlone { since, tried: false }), if tries { Change::None } else { Change::LeftAlone })
            }
        };
        *state = State { answered: Vec::new(), left_alone, changes: state.changes + 1 };
        change
    }
}

impl Drop for Call<'_> {
    /// An abandoned trial call is left to the next caller.
    fn drop(&mut self) {
        if !self.tries {
            return;
        }
        let mut state = self.watch.lock();
        if self.changes == state.changes
            && let Some(left_alone) = &mut state.left_alone
        {
            left_alone.tried = false;
        }
    }
}
