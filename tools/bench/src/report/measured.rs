use serde::Serialize;

use super::figure::Line;

#[derive(Default, Serialize)]
pub(super) struct Report {
    /// When it was made, and on which machine.
    pub(super) made: String,
    /// How often everything was measured. Each line has the rounds of all runs in order, the same number from each.
    pub(super) runs: usize,
    pub(super) lines: Vec<Line>,
    pub(super) costs: Vec<Cost>,
    pub(super) allocations_of_nothing: u64,
    pub(super) starts: Vec<Started>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Started {
    pub(crate) function: &'static str,
    pub(crate) start_ms: f64,
    pub(crate) peak_mb: f64,
    pub(crate) zipped_mb: f64,
}

/// Cost per request of one kind of answer.
#[derive(Debug, Serialize)]
pub(crate) struct Cost {
    pub(crate) answer: &'static str,
    pub(crate) redis: [f64; 2],
    pub(crate) sqs: [f64; 2],
    pub(crate) write_units: [f64; 2],
    /// Of the handler alone, in this process; none for the order function.
    pub(crate) allocations: Option<u64>,
}
