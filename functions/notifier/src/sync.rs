//! The synchronisation types of state that batches share. `tests/schedules` replaces them to control the schedule.

pub(crate) use moka::sync::Cache;
