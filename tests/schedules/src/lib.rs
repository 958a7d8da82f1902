//! What requests share within a process, compiled a second time: with [`sync`], whose types let [shuttle] decide at each step
//! who goes on. `docs/shared-state.md` lists all that is shared, and which test covers it.
//!
//! The sources are those that are shipped (`build/kernels.rs` names them). They take what they share from a module `sync` of
//! their parent, which is another one here. Each is there as it is and with planted mistakes, which its tests must catch.

#![allow(
    clippy::duplicate_mod,
    reason = "a scenario is compiled for its sources as they are, and for each planted mistake"
)]

mod explore;
pub mod sync;

pub use explore::{assert_caught, explore, explore_all};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
