//! Plans a sale: says what it will need, refuses what cannot work, and adds up the cost.
//!
//! `docs/planning.md` has the arrival model and every formula.

pub mod checks;
pub mod cli;
pub mod cost;
pub mod curves;
pub mod deployment;
pub mod figures;
pub mod inputs;
pub mod load;
pub mod plan;
pub mod prices;
pub mod quotas;
pub mod report;
pub mod setup;
pub mod totals;
