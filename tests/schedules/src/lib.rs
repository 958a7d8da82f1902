//! The state that requests share within a process, compiled a second time with [`sync`], whose types let [shuttle] choose at
//! each step which task runs. `docs/shared-state.md` lists all shared state and the tests that cover it.
//!
//! The sources are the shipped ones; each file of `src/scenarios` names its own. They import their shared types from their
//! parent's module `sync`, which is a different one here. Each is compiled as it is and with planted mistakes, which the
//! tests must catch.

#![allow(
    clippy::duplicate_mod,
    clippy::never_loop,
    reason = "a scenario is compiled for its sources as they are, and for each planted mistake"
)]

mod explore;
mod prelude;
pub mod sync;
mod under_way;

pub use explore::{assert_caught, explore, explore_all};
pub use under_way::{Doing, UnderWay};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
