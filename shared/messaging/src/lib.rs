//! Messages: between functions over SQS, to buyers over WebSockets, to the merchant's address.

#[cfg(feature = "push")]
pub mod push;
#[cfg(feature = "queue")]
pub mod queue;
#[cfg(feature = "webhook")]
pub mod webhook;
