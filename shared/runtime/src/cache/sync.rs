//! The synchronisation types of state that callers share. `tests/schedules` replaces them to control the schedule.

pub(crate) use arc_swap::ArcSwapOption;
pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::Mutex as AsyncMutex;
pub(crate) use tokio::time::{Instant, timeout};
