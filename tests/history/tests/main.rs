//! The checks: histories of a correct sale pass, and each planted error is rejected under its rule.

mod dice;
mod linearizability;
mod planted;
mod random;
mod scale;
mod simulator;
mod small;
mod spec;
mod story;
