//! What the tests on real parts share.

mod round;

pub use round::{TestRound, fresh_id, terms, user};
