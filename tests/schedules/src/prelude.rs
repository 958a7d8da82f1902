//! What scenarios use everywhere.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
pub(crate) use std::sync::{Arc, PoisonError};
pub(crate) use std::time::Duration;

pub(crate) use sale::{EpochMs, RoundId, RoundNumber};
pub(crate) use shuttle::future::{JoinHandle, block_on, spawn, yield_now};
pub(crate) use shuttle::thread;

pub(crate) use crate::OneAtATime;
pub(crate) use crate::sync::{Clock, Instant, Moment, pass, set_wall_clock, step, until_given_up};

/// Waits for all tasks.
pub(crate) async fn all<T>(tasks: impl IntoIterator<Item = JoinHandle<T>>) {
    for task in tasks {
        task.await.unwrap();
    }
}
