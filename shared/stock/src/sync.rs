//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use arc_swap::ArcSwapOption;
pub(crate) use tokio::sync::{Mutex as AsyncMutex, Semaphore};
pub(crate) use tokio::time::{Instant, timeout};
