//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use moka::future::Cache as FutureCache;
pub(crate) use runtime::{Clock, Moment};
pub(crate) use tokio::sync::Semaphore;
