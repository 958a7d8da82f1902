//! How many environments the functions at the gate need, in both of Lambda's modes.

use serde::Serialize;

use crate::load::Load;
use crate::quotas::{
    ADMISSION_S, CATALOG_S, LAMBDA_REQUESTS_PER_CONCURRENCY, MANAGED_CONCURRENCY, MANAGED_ENVIRONMENTS_LEAST,
    MANAGED_REQUESTS_PER_S_PER_CPU, RESERVATION_S, TICKET_S,
};

/// What one function needs in the busiest second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    /// The function.
    pub function: &'static str,
    /// Requests a second.
    pub requests_per_s: f64,
    /// Environments with one request at a time, as deployed.
    pub environments: f64,
    /// Environments of one processor with many concurrent requests, on Lambda Managed Instances: the binaries support
    /// it, but it is not deployed.
    pub managed_environments: f64,
}

impl Sized {
    fn new(function: &'static str, requests_per_s: f64, seconds: f64) -> Self {
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

/// The functions that serve the crowd.
pub fn at_the_gate(load: &Load) -> Vec<Sized> {
    let mut all = vec![
        Sized::new("admission", load.admission_per_s, ADMISSION_S),
        Sized::new("reservation", load.reservations_per_s + load.reservation_looks_per_s, RESERVATION_S),
        Sized::new("catalog", load.looks_before_per_s.max(load.looks_per_s), CATALOG_S),
    ];
    if load.tickets_per_s > 0.0 {
        let tickets = load.tickets_per_s.max(load.late_tickets_per_s);
        all.push(Sized::new("line", tickets + load.documents_per_s, TICKET_S));
    }
    all
}

/// Environments that are busy at the same time. The last tickets before the opening do not coincide with the first
/// turns after it.
pub fn busy_at_once(load: &Load) -> f64 {
    let of = |per_s: f64| Sized::new("line", per_s + load.documents_per_s, TICKET_S).environments;
    let gate = at_the_gate(load).into_iter().filter(|function| function.function != "line");
    let after: f64 = gate.map(|function| function.environments).sum();
    if load.tickets_per_s > 0.0 { of(load.tickets_per_s).max(after + of(load.late_tickets_per_s)) } else { after }
}
