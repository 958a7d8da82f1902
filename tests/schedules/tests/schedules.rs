//! Shared state under many schedules: it keeps its rules, and each planted mistake breaks one. `build.rs` writes them.

include!(concat!(env!("OUT_DIR"), "/tests.rs"));
