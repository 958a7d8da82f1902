//! How a sale is set up: its lanes, and the line in front of it.

use serde::Serialize;

/// A line in front of a sale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Line {
    /// How many seconds before the opening it starts to give out tickets.
    pub opens_early_s: u32,
    /// People a second whose turn comes.
    pub admits_per_s: u32,
}

/// The lanes and line of a sale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Setup {
    pub lanes: u32,
    pub line: Option<Line>,
}
