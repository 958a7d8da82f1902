//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::{Mutex, PoisonError};

pub(crate) use moka::sync::Cache;
pub(crate) use runtime::{Clock, Moment};
pub(crate) use tokio::sync::Mutex as AsyncMutex;
