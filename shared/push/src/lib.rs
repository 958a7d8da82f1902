//! Messages to buyers over API Gateway's connections: what they say, and how they get there.

mod gateway;
mod status_update;

pub use gateway::{Gateway, Posted, PushError};
pub use status_update::StatusUpdate;
