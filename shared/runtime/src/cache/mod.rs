//! Values that a process caches and refreshes, and clocks.

mod clock;
mod moment;
mod refreshed;
mod sync;

pub use clock::Clock;
pub use moment::Moment;
pub use refreshed::{Bounds, Reading, RefreshError, Refreshed};
