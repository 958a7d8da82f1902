//! What raised quotas gain, in people that a line admits.

use serde::Serialize;

use crate::choice::{Effort, suggested_per_s};
use crate::inputs::{Assumptions, Inputs};
use crate::quotas::{GATEWAY_REQUESTS, LAMBDA_CONCURRENCY, RAISED_AT_MOST};

/// The rate of a line if AWS raises a quota.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Raised {
    pub what: String,
    /// People a second, if the plan holds at all.
    pub admits_per_s: Option<u32>,
    /// Seconds until everybody has had a turn, if nobody buys.
    pub everybody_s: Option<f64>,
}

/// The rates with the current quotas, with each quota ten times as large, and with both.
pub fn what_quotas_buy(inputs: &Inputs, assumed: &Assumptions) -> Vec<Raised> {
    let lambda = LAMBDA_CONCURRENCY.value * RAISED_AT_MOST;
    let gateway = GATEWAY_REQUESTS.value * RAISED_AT_MOST;
    let with = |what: String, lambda: f64, gateway: f64| {
        let raised = Assumptions {
            lambda_quota: assumed.lambda_quota.max(lambda),
            gateway_quota: assumed.gateway_quota.max(gateway),
            ..assumed.clone()
        };
        let admits_per_s = suggested_per_s(inputs, &raised, Effort::Settings);
        let everybody_s = admits_per_s.map(|per_s| inputs.audience as f64 / f64::from(per_s));
        Raised { what, admits_per_s, everybody_s }
    };
    let lambda_to = || format!("{} concurrent executions", crate::figures::count(lambda));
    let gateway_to = || format!("{} gateway requests/s", crate::figures::count(gateway));
    vec![
        with("current quotas".into(), 0.0, 0.0),
        with(lambda_to(), lambda, 0.0),
        with(gateway_to(), 0.0, gateway),
        with("both".into(), lambda, gateway),
    ]
}
