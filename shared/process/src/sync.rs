//! The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, PoisonError};

pub(crate) use arc_swap::ArcSwapOption;
pub(crate) use moka::sync::Cache;
pub(crate) use runtime::{Clock, Moment};
pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::Mutex as AsyncMutex;
pub(crate) use tokio::time::{Instant, sleep, timeout};
