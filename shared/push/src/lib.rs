//! Messages to buyers over API Gateway's connections: what they say, and how they get there.

mod gateway;
mod message;

pub use gateway::{Gateway, Posted, PushError};
pub use message::Message;
