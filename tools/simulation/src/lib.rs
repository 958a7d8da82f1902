//! The opening of a sale with a line in front of it, in virtual time: who comes when, the load on edge, gateway and Redis
//! each second, how long it takes, and whether the line is fair.
//!
//! `docs/planning.md` has the assumptions and the results.

pub mod cli;
pub mod fairness;
pub mod lanes;
pub mod meter;
pub mod opening;
pub mod people;
pub mod plot;
pub mod report;
pub mod scenario;
