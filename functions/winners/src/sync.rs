//! The synchronisation types of state that messages share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::{Mutex, PoisonError};

pub(crate) use tokio::time::{Instant, sleep_until};
