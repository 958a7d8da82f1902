//! What scenarios use everywhere.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
pub(crate) use std::sync::{Arc, PoisonError};
pub(crate) use std::time::Duration;

pub(crate) use sale::{EpochMs, RoundId, RoundNumber};
pub(crate) use shuttle::future::{block_on, yield_now};
pub(crate) use shuttle::thread;

pub(crate) use crate::UnderWay;
pub(crate) use crate::sync::{Clock, Instant, Moment, pass, set_wall_clock, step, until_given_up};

/// Runs tasks, numbered from 0, beside each other. Returns what they return.
pub(crate) fn at_once<S, T, F>(state: &Arc<S>, tasks: usize, task: F) -> Vec<T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    F: AsyncFn(&S, usize) -> T + Copy + Send + 'static,
{
    at_once_and(state, tasks, task, async |_| ()).0
}

/// Likewise, beside what the scenario does meanwhile.
pub(crate) fn at_once_and<S, T, F, R>(
    state: &Arc<S>,
    tasks: usize,
    task: F,
    meanwhile: impl AsyncFnOnce(&S) -> R,
) -> (Vec<T>, R)
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    F: AsyncFn(&S, usize) -> T + Copy + Send + 'static,
{
    // Each thread has an `Arc` of its own: a scenario that panics does not drop the state under the others.
    let tasks: Vec<_> = (0..tasks)
        .map(|number| {
            let state = Arc::clone(state);
            thread::spawn(move || block_on(task(state.as_ref(), number)))
        })
        .collect();
    let done = block_on(meanwhile(state.as_ref()));
    (tasks.into_iter().map(|task| task.join().unwrap()).collect(), done)
}

pub(crate) fn lamps() -> RoundId {
    RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(1) }
}
