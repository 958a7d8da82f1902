//! The checks: histories of a correct sale pass, and each planted error is rejected by its name.

mod dice;
mod files;
mod linearizability;
mod planted;
mod random;
mod scale;
mod simulator;
mod small;
mod spec;
mod story;
