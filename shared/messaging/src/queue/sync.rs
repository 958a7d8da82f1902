//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::{Mutex, PoisonError};

pub(crate) use tokio::sync::Mutex as AsyncMutex;
pub(crate) use tokio::sync::oneshot;
pub(crate) use tokio::time::timeout;
