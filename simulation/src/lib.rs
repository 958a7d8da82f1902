//! The opening of a sale with a line in front of it, in virtual time: who comes when, what edge, gateway and Redis hear each second,
//! how long it takes, and whether the line is fair.
//!
//! `docs/planning.md` says what is assumed and what came out.

pub mod cli;
pub mod fairness;
pub mod lanes;
pub mod meter;
pub mod opening;
pub mod people;
pub mod plot;
pub mod report;
pub mod scenario;
