//! Traces of real runs, and the search for a path of the model that looks the same from outside.
//!
//! README.md describes what is recorded, what is checked and what a trace cannot show.

mod effect;
mod explain;
mod moves;
mod record;
mod search;
mod unseen;

pub use crate::scripts::Answer;
pub use effect::{Effect, Written};
pub use explain::{Explained, explain};
pub use record::{Function, Header, How, Record, Trace, What};
pub use search::Unexplained;
