//! Shared state under many schedules: as shipped it keeps its rules, and each planted mistake breaks one. `build.rs` writes the
//! tests.

include!(concat!(env!("OUT_DIR"), "/tests.rs"));
