//! Values that a process keeps for a while and reads again, and the clocks that say when.

mod clock;
mod moment;
mod refreshed;

pub use clock::Clock;
pub use moment::Moment;
pub use refreshed::{Bounds, Reading, RefreshError, Refreshed};
