//! How many environments the functions at the gate need, in Lambda's two ways to run them.

use serde::Serialize;

use crate::load::Load;
use crate::quotas::{
    ADMISSION_S, CATALOG_S, LAMBDA_REQUESTS_PER_CONCURRENCY, MANAGED_CONCURRENCY, MANAGED_ENVIRONMENTS_LEAST,
    MANAGED_REQUESTS_PER_S_PER_CPU, RESERVATION_S,
};

/// What one function needs in the fullest second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    /// Which one.
    pub function: &'static str,
    /// Requests a second.
    pub requests_per_s: f64,
    /// Environments with one request at a time: what is deployed.
    pub environments: f64,
    /// Environments of one processor with many requests at once, on Lambda Managed Instances: the binaries can, and it
    /// is not deployed.
    pub managed_environments: f64,
}

impl Sized {
    fn new(function: &'static str, requests_per_s: f64, seconds: f64) -> Self {
        let busy = requests_per_s * seconds;
        // A short request counts for as much as one of a tenth of a second.
        let environments = busy.max(requests_per_s / LAMBDA_REQUESTS_PER_CONCURRENCY.value).ceil();
        let managed_environments = (busy / MANAGED_CONCURRENCY.value)
            .max(requests_per_s / MANAGED_REQUESTS_PER_S_PER_CPU)
            .ceil()
            .max(MANAGED_ENVIRONMENTS_LEAST.value);
        Self { function, requests_per_s, environments, managed_environments }
    }
}

/// The three functions that the crowd meets.
pub fn at_the_gate(load: &Load) -> [Sized; 3] {
    [
        Sized::new("admission", load.challenges_per_s + load.answers_per_s, ADMISSION_S),
        Sized::new("reservation", load.reservations_per_s + load.reservation_looks_per_s, RESERVATION_S),
        Sized::new("catalog", load.looks_before_per_s.max(load.looks_per_s), CATALOG_S),
    ]
}
