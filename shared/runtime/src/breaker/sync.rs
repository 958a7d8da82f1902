//! The synchronisation types of state that callers share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use crate::cache::{Clock, Moment};
