//! Values that a process keeps and refreshes, and the clocks that say when.

mod clock;
mod moment;
mod refreshed;

pub use clock::Clock;
pub use moment::Moment;
pub use refreshed::{Bounds, Reading, RefreshError, Refreshed};
