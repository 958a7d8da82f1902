//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, PoisonError};
