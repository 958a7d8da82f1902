//! Values that a process caches and refreshes, and clocks.

mod clock;
mod moment;
mod refreshed;

/// The synchronisation types of state that callers share. `tests/schedules` replaces them to control the schedule.
mod sync {
    pub(crate) use arc_swap::ArcSwapOption;
    pub(crate) use tokio::spawn;
    pub(crate) use tokio::sync::Mutex as AsyncMutex;
    pub(crate) use tokio::time::{Instant, timeout};
}

pub use clock::Clock;
pub use moment::Moment;
pub use refreshed::{Bounds, Reading, RefreshError, Refreshed};
