//! What the tests on real parts share.

mod fault_proxy;
mod round;

pub use fault_proxy::{Fault, FaultProxy, When};
pub use round::{TestRound, fresh_id, terms, user};
