//! How a sale is set up, its lanes and the line in front of it: as asked for, or else as it has to be.

use serde::Serialize;

use crate::checks::{Check, Mover, checks};
use crate::deployment::PROD;
use crate::figures::count;
use crate::inputs::{Assumptions, Inputs, Line, LineAsked, MAX_ADMITS_PER_S, MAX_LANES, Setup};
use crate::load::Load;
use crate::quotas::{GATEWAY_REQUESTS, LAMBDA_CONCURRENCY, RAISED_AT_MOST};

// What the merchant may do to make a setup hold: nothing, change settings, or also ask AWS for quotas.
const NOTHING: &[Mover] = &[];
const SETTINGS: &[Mover] = &[Mover::Setting];
const QUOTAS: &[Mover] = &[Mover::Setting, Mover::Quota];

impl Setup {
    /// With the requested lanes, or as few as the load needs.
    pub fn with(inputs: &Inputs, assumed: &Assumptions, line: Option<Line>) -> Self {
        if let Some(lanes) = inputs.lanes {
            return Self { lanes, line };
        }
        let load = Load::new(inputs, assumed, line.as_ref());
        let fits = |lanes: u32, shards: u32| load.scripts_on(lanes) <= load.room_for_scripts(lanes, shards);
        let all = || (0..).map(|power| 1 << power).take_while(|lanes| *lanes <= MAX_LANES);
        // On the existing shards, or else with a shard for each lane.
        let lanes = all().find(|lanes| fits(*lanes, PROD.shards)).or_else(|| all().find(|lanes| fits(*lanes, *lanes)));
        Self { lanes: lanes.unwrap_or(MAX_LANES), line }
    }

    /// The setup for these inputs. In automatic mode there is no line if the sale holds without one and without asking AWS.
    pub fn of(inputs: &Inputs, assumed: &Assumptions) -> Self {
        let without = || Self::with(inputs, assumed, None);
        let with = |per_s| Self::with(inputs, assumed, Some(line(inputs, per_s)));
        match inputs.line {
            LineAsked::No => without(),
            LineAsked::PerS(per_s) => with(per_s),
            LineAsked::Auto => {
                let holds = |setup: &Self, effort: &[Mover]| setup.holds(inputs, assumed, effort);
                if holds(&without(), SETTINGS) {
                    return without();
                }
                let suggest = |effort| suggested_per_s(inputs, assumed, effort);
                if let Some(per_s) = suggest(NOTHING).or_else(|| suggest(SETTINGS)) {
                    return with(per_s);
                }
                if holds(&without(), QUOTAS) {
                    return without();
                }
                with(suggest(QUOTAS).unwrap_or(1_000).min(most_per_s(inputs)))
            }
        }
    }

    fn holds(&self, inputs: &Inputs, assumed: &Assumptions, effort: &[Mover]) -> bool {
        let meets = |check: &Check| check.holds() || (effort.contains(&check.mover) && check.can_hold());
        checks(inputs, assumed, self).iter().all(meets)
    }
}

fn line(inputs: &Inputs, admits_per_s: u32) -> Line {
    Line { opens_early_s: inputs.opens_early_s, admits_per_s }
}

fn most_per_s(inputs: &Inputs) -> u32 {
    u32::try_from(inputs.audience).unwrap_or(u32::MAX).min(MAX_ADMITS_PER_S)
}

/// The highest rate at which everything behind the line holds with this effort, rounded down to two digits.
fn suggested_per_s(inputs: &Inputs, assumed: &Assumptions, effort: &[Mover]) -> Option<u32> {
    let holds = |per_s: u32| Setup::with(inputs, assumed, Some(line(inputs, per_s))).holds(inputs, assumed, effort);
    let per_s = most(u64::from(most_per_s(inputs)), |per_s| holds(per_s as u32))? as u32;
    let step = 10_u32.pow(per_s.ilog10().saturating_sub(1));
    Some(per_s / step * step)
}

/// The largest number from 1 to `limit` for which it holds, given that it holds for all smaller numbers.
pub(crate) fn most(limit: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}

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
        let admits_per_s = suggested_per_s(inputs, &raised, SETTINGS);
        let everybody_s = admits_per_s.map(|per_s| inputs.audience as f64 / f64::from(per_s));
        Raised { what, admits_per_s, everybody_s }
    };
    vec![
        with("current quotas".into(), 0.0, 0.0),
        with(format!("{} concurrent executions", count(lambda)), lambda, 0.0),
        with(format!("{} gateway requests/s", count(gateway)), 0.0, gateway),
        with("both".into(), lambda, gateway),
    ]
}
