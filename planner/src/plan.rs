//! Whether a sale holds, what is to be done for it, and what would hold instead.

use anyhow::Result;
use jiff::{Span, Timestamp};
use serde::Serialize;

use crate::checks::{Check, Mover, checks};
use crate::cost::{Line, lines, sum};
use crate::deployment::{LOADED_BEFORE_S, PROD};
use crate::figures::count;
use crate::functions::{Sized, at_the_gate};
use crate::inputs::{Assumptions, Inputs, MAX_WAITING_ROOM_PER_S};
use crate::load::Load;
use crate::prices::{Prices, Region};
use crate::quotas::{ORDER_BATCH_S, WEBSOCKET_CONNECTIONS};
use crate::totals::Totals;
use crate::{deployment, idle};

/// The version of the JSON: a field is added without a new one, and never changed or taken away.
pub const SCHEMA: u32 = 1;
const DAY_H: i64 = 24;

/// Whether it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does, once what is to be done is done.
    Holds,
    /// It does not.
    Refused,
}

/// Something to be done before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// The check that asks for it.
    pub check: &'static str,
    /// What.
    pub how: &'static str,
    /// How much is needed.
    pub need: f64,
    /// The last moment to begin.
    pub begin_by: Timestamp,
}

/// Why it does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The check that fails.
    pub check: &'static str,
    /// In words.
    pub why: String,
}

/// What would hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// A stable name: `later_opening`, `smaller_audience`, `fewer_units` or `waiting_room`.
    pub kind: &'static str,
    /// In words.
    pub what: String,
    /// Whether it exists today.
    pub built: bool,
}

/// All that there is to say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What was asked.
    pub inputs: Inputs,
    /// What was assumed.
    pub assumptions: Assumptions,
    /// What comes.
    pub load: Load,
    /// Environments of the functions.
    pub functions: [Sized; 3],
    /// Seconds until the last order is written.
    pub drain_s: f64,
    /// Every bound.
    pub checks: Vec<Check>,
    /// What is to be done before.
    pub to_do: Vec<Task>,
    /// Why it is refused.
    pub reasons: Vec<Reason>,
    /// What would hold instead.
    pub alternatives: Vec<Alternative>,
    /// What is worth knowing, and refuses nothing.
    pub notes: Vec<String>,
    /// What the sale costs.
    pub cost: Vec<Line>,
    /// What that comes to, in US dollars.
    pub cost_usd: f64,
    /// What the deployment costs in a month in any case.
    pub idle_month_usd: f64,
    /// The day of the prices.
    pub prices_taken: String,
    /// Prices of this region of which no copy was seen on that day.
    pub prices_unseen: Vec<String>,
}

/// What decides about a sale, without the words.
struct Outcome {
    checks: Vec<Check>,
    earliest: Timestamp,
    possible: bool,
}

impl Outcome {
    fn of(inputs: &Inputs, assumed: &Assumptions) -> Result<Self> {
        let checks = checks(inputs, assumed, &PROD, &Load::new(inputs, assumed));
        let days = checks.iter().map(|check| check.lead_days(assumed)).max().unwrap_or(0);
        let loaded = inputs.planned_at.checked_add(Span::new().seconds(LOADED_BEFORE_S))?;
        let earliest = loaded.max(inputs.planned_at.checked_add(Span::new().hours(i64::from(days) * DAY_H))?);
        let possible = checks.iter().all(Check::can_hold);
        Ok(Self { checks, earliest, possible })
    }

    fn holds(&self, inputs: &Inputs) -> bool {
        self.possible && inputs.opens_at >= self.earliest
    }
}

/// Whether a sale holds.
///
/// # Errors
/// If a moment is beyond what can be told.
pub fn holds(inputs: &Inputs, assumed: &Assumptions) -> Result<bool> {
    Ok(Outcome::of(inputs, assumed)?.holds(inputs))
}

/// Plans a sale on the production settings.
///
/// # Errors
/// If the region has no prices.
pub fn plan(inputs: Inputs, assumptions: Assumptions) -> Result<Plan> {
    let table = Prices::load()?;
    let prices = table.of(&inputs.region)?;
    let load = Load::new(&inputs, &assumptions);
    let outcome = Outcome::of(&inputs, &assumptions)?;
    let holds = outcome.holds(&inputs);
    let mut cost = lines(&Totals::of_sale(&inputs, &assumptions), prices);
    cost.extend(waiting_processes(&outcome.checks, prices));
    let drain_s = drain_s(&inputs, &assumptions, &outcome.checks);
    Ok(Plan {
        schema: SCHEMA,
        verdict: if holds { Verdict::Holds } else { Verdict::Refused },
        functions: at_the_gate(&load),
        drain_s,
        to_do: to_do(&inputs, &assumptions, &outcome)?,
        reasons: if holds { Vec::new() } else { reasons(&inputs, &outcome) },
        alternatives: if holds { Vec::new() } else { alternatives(&inputs, &assumptions, &outcome)? },
        notes: notes(&load),
        cost_usd: sum(&cost),
        cost,
        idle_month_usd: sum(&idle::lines(&PROD, prices)?),
        prices_taken: table.taken.clone(),
        prices_unseen: prices.unseen.iter().cloned().collect(),
        checks: outcome.checks,
        inputs,
        assumptions,
        load,
    })
}

/// Processes that wait for the crowd, if it needs them.
fn waiting_processes(checks: &[Check], prices: &Region) -> Option<Line> {
    let check = checks.iter().find(|check| check.name == "lambda_scaling" && !check.holds())?;
    let gb_s = check.need * deployment::PROVISIONED_FUNCTIONS * deployment::FUNCTION_GB * deployment::PROVISIONED_S;
    Some(Line::new(prices, "Lambda, processes that wait", gb_s, "lambda_provisioned_gb_s"))
}

/// Orders are written as fast as consumers and the table allow, once both are as large as they have to be.
fn drain_s(inputs: &Inputs, assumed: &Assumptions, checks: &[Check]) -> f64 {
    let have = |name| {
        let check = checks.iter().find(|check| check.name == name);
        check.map_or(0.0, |check| if check.can_hold() { check.need.max(check.have) } else { check.most })
    };
    let consumed = have("order_consumers") * deployment::BATCH / ORDER_BATCH_S;
    let written = have("table_writes").max(assumed.table_warm_writes) / deployment::WRITES_OF_AN_ORDER;
    f64::from(inputs.units) / consumed.min(written)
}

fn to_do(inputs: &Inputs, assumed: &Assumptions, outcome: &Outcome) -> Result<Vec<Task>> {
    let failing = outcome.checks.iter().filter(|check| !check.holds() && check.can_hold());
    let task = |check: &Check| {
        let lead = Span::new().hours(i64::from(check.lead_days(assumed)) * DAY_H);
        Ok(Task { check: check.name, how: check.how, need: check.need, begin_by: inputs.opens_at.checked_sub(lead)? })
    };
    failing.map(task).collect()
}

fn reasons(inputs: &Inputs, outcome: &Outcome) -> Vec<Reason> {
    let mut all: Vec<Reason> = outcome
        .checks
        .iter()
        .filter(|check| !check.can_hold())
        .map(|check| {
            let Check { need, most, unit, how, .. } = check;
            let (need, most) = (count(*need), count(*most));
            let why = match check.mover {
                Mover::Nothing => format!("needs {need} {unit}, of {most}: {how}"),
                Mover::Quota => format!("needs {need} {unit}; more than {most} is nothing to plan with: {how}"),
                Mover::Setting => format!("needs {need} {unit}; at most {most} can be set: {how}"),
            };
            Reason { check: check.name, why }
        })
        .collect();
    if all.is_empty() {
        let waits = outcome.checks.iter().filter(|check| !check.holds()).map(|check| check.name);
        let waits: Vec<&str> = waits.collect();
        let what = if waits.is_empty() { "the round is loaded".to_owned() } else { waits.join(", ") };
        let why = format!("opens at {}, and not before {:.0} is this done: {what}", inputs.opens_at, outcome.earliest);
        all.push(Reason { check: "opens_at", why });
    }
    all
}

fn alternatives(inputs: &Inputs, assumed: &Assumptions, outcome: &Outcome) -> Result<Vec<Alternative>> {
    let mut all = Vec::new();
    let mut say = |kind, built, what| all.push(Alternative { kind, what, built });
    if outcome.possible {
        say("later_opening", true, format!("open at {:.0} or later", outcome.earliest));
    }
    let fits = |audience: u64, units: u64, assumed: &Assumptions| {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        holds(&Inputs { audience, units, ..inputs.clone() }, assumed).unwrap_or(false)
    };
    let asked = u64::from(inputs.units);
    if let Some(units) = most(asked, |units| fits(inputs.audience, units, assumed)) {
        say("fewer_units", true, format!("sell at most {} units", shown(units)));
    }
    // What is too much for any crowd has to go before anything else helps.
    let Some(units) = most(asked, |units| fits(1, units, assumed)) else { return Ok(all) };
    let first = if units < asked { format!("sell at most {} units, and ", shown(units)) } else { String::new() };
    let people = most(inputs.audience, |audience| fits(audience, units, assumed));
    if let Some(people) = people {
        say("smaller_audience", true, format!("{first}invite at most {} people", shown(people)));
    }
    if assumed.waiting_room_per_s.is_none() {
        let room = |per_s: u64| Assumptions { waiting_room_per_s: Some(per_s as f64), ..assumed.clone() };
        let widest =
            most(inputs.audience.min(MAX_WAITING_ROOM_PER_S), |per_s| fits(inputs.audience, units, &room(per_s)));
        if let Some(per_s) = widest {
            let minutes = shown((inputs.audience.div_ceil(per_s)).div_ceil(60));
            let per_s = shown(per_s);
            let what = format!("put a waiting room in front that lets {per_s} people a second in");
            say("waiting_room", false, format!("{first}{what}: {minutes} minutes for all of them"));
        }
    }
    Ok(all)
}

fn shown(number: u64) -> String {
    count(number as f64)
}

/// The largest number from 1 to `limit` for which it holds: whatever holds for more holds for fewer.
fn most(limit: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}

fn notes(load: &Load) -> Vec<String> {
    let mut all = Vec::new();
    let opened = load.connections_per_s;
    if opened > WEBSOCKET_CONNECTIONS.value {
        all.push(format!(
            "{} winners a second open a WebSocket, and AWS takes {}: the others ask until they are in",
            count(opened),
            count(WEBSOCKET_CONNECTIONS.value),
        ));
    }
    all
}
