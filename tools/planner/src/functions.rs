//! How many environments a function needs, in both of Lambda's modes.

use serde::Serialize;

use crate::quotas::{
    LAMBDA_REQUESTS_PER_CONCURRENCY, MANAGED_CONCURRENCY, MANAGED_ENVIRONMENTS_LEAST, MANAGED_REQUESTS_PER_S_PER_CPU,
};

/// What one function needs in the busiest second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    pub function: &'static str,
    pub requests_per_s: f64,
    /// Environments with one request at a time, as deployed.
    pub environments: f64,
    /// Environments of one processor with many concurrent requests, on Lambda Managed Instances: the binaries support
    /// it, but it is not deployed.
    pub managed_environments: f64,
}

impl Sized {
    pub(crate) fn new(function: &'static str, requests_per_s: f64, seconds: f64) -> Self {
        let busy = requests_per_s * seconds;
        // A shorter request counts as a tenth of a second.
        let environments = busy.max(requests_per_s / LAMBDA_REQUESTS_PER_CONCURRENCY.value).ceil();
        let managed_environments = (busy / MANAGED_CONCURRENCY.value)
            .max(requests_per_s / MANAGED_REQUESTS_PER_S_PER_CPU)
            .ceil()
            .max(MANAGED_ENVIRONMENTS_LEAST.value);
        Self { function, requests_per_s, environments, managed_environments }
    }
}
