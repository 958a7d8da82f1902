//! Messages to buyers over API Gateway's WebSocket connections: contents and delivery.

mod gateway;
mod status_update;

pub use gateway::{Gateway, Posted};
pub use status_update::StatusUpdate;
