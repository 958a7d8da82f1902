//! Whether a sale holds, what must be done for it, and what would hold instead.

use anyhow::Result;
use command_line::of_these;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::checks::{Check, Mover, checks};
use crate::cost::{Line, idle, lines, sum};
use crate::deployment::{LOADED_BEFORE_S, PROD, PROVISIONED_S, function_gb};
use crate::figures::count;
use crate::inputs::{Assumptions, Inputs, LineAsked, OPENS_EARLY, Setup};
use crate::load::{Load, Sized, at_the_gate};
use crate::prices::{Prices, Region};
use crate::quotas::{COGNITO_SIGN_INS, ORDER_BATCH_S, WEBSOCKET_CONNECTIONS};
use crate::setup::{Raised, most, what_quotas_buy};
use crate::totals::{Totals, writes_of_an_order};

/// The version of the JSON. Fields may be added without a new version, but never changed or removed.
pub const SCHEMA: u32 = 2;
const DAY: SignedDuration = SignedDuration::from_hours(24);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds, once the tasks are done.
    Holds,
    Refused,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    pub check: &'static str,
    pub how: &'static str,
    pub need: f64,
    pub begin_by: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    pub check: &'static str,
    pub why: String,
}

/// A plan that would hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// A stable name: `later_opening`, `smaller_audience`, `fewer_units`, `line` or `earlier_line`.
    pub kind: &'static str,
    pub what: String,
}

/// The effects of the line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InLine {
    /// Seconds from the opening until nothing is left for the first time. `None` if there is a unit for everybody.
    pub sold_out_s: Option<f64>,
    /// Seconds until everybody has had a turn, if it does not sell out.
    pub everybody_s: f64,
    /// Seconds within which everybody sees a change.
    pub known_within_s: f64,
    pub raised: Vec<Raised>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    pub schema: u32,
    pub verdict: Verdict,
    pub inputs: Inputs,
    pub assumptions: Assumptions,
    /// Lanes and line, as requested or chosen.
    pub setup: Setup,
    /// The effects of the line, if there is one.
    pub line: Option<InLine>,
    pub load: Load,
    pub functions: Vec<Sized>,
    pub drain_s: f64,
    pub checks: Vec<Check>,
    pub to_do: Vec<Task>,
    pub reasons: Vec<Reason>,
    pub alternatives: Vec<Alternative>,
    /// Hints that do not change the verdict.
    pub notes: Vec<String>,
    pub cost: Vec<Line>,
    pub cost_usd: f64,
    /// What the deployment costs in a month anyway.
    pub idle_month_usd: f64,
    pub prices_taken: &'static str,
    /// Prices of this region that could not be verified on that date.
    pub prices_unseen: Vec<&'static str>,
}

/// What decides whether a sale holds, without the words.
struct Outcome {
    setup: Setup,
    checks: Vec<Check>,
    earliest: Timestamp,
    possible: bool,
}

impl Outcome {
    fn of(inputs: &Inputs, assumed: &Assumptions) -> Self {
        let setup = Setup::of(inputs, assumed);
        let checks = checks(inputs, assumed, &setup);
        let days = checks.iter().map(|check| check.lead_days(assumed)).max().unwrap_or(0);
        let earliest = inputs.planned_at + (DAY * days as i32).max(SignedDuration::from_secs(LOADED_BEFORE_S));
        let possible = checks.iter().all(Check::can_hold);
        Self { setup, checks, earliest, possible }
    }

    fn holds(&self, inputs: &Inputs) -> bool {
        self.possible && inputs.opens_at >= self.earliest
    }
}

pub fn holds(inputs: &Inputs, assumed: &Assumptions) -> bool {
    Outcome::of(inputs, assumed).holds(inputs)
}

/// Plans a sale on the production settings. Fails if the region has no prices.
pub fn plan(inputs: Inputs, assumptions: Assumptions) -> Result<Plan> {
    let table = Prices::load()?;
    let prices = table.of(&inputs.region)?;
    let outcome = Outcome::of(&inputs, &assumptions);
    let setup = outcome.setup;
    let load = Load::new(&inputs, &assumptions, setup.line.as_ref());
    let holds = outcome.holds(&inputs);
    let line = setup.line.map(|_| InLine {
        sold_out_s: load.sold_out_s,
        everybody_s: load.rush_s,
        // A page polls up to a quarter later, and gets a document that is up to a second old.
        known_within_s: load.line_poll_s * 1.25 + 1.0,
        raised: what_quotas_buy(&inputs, &assumptions),
    });
    let mut cost = lines(&Totals::of_sale(&inputs, &assumptions, setup.line.as_ref()), prices);
    cost.extend(waiting_processes(&outcome.checks, prices));
    let drain_s = drain_s(&inputs, &assumptions, &outcome.checks);
    Ok(Plan {
        schema: SCHEMA,
        verdict: if holds { Verdict::Holds } else { Verdict::Refused },
        functions: at_the_gate(&load),
        setup,
        line,
        drain_s,
        to_do: to_do(&inputs, &assumptions, &outcome)?,
        reasons: if holds { Vec::new() } else { reasons(&inputs, &outcome) },
        alternatives: if holds { Vec::new() } else { alternatives(&inputs, &assumptions, &outcome) },
        notes: notes(&inputs, &assumptions, &load, &setup),
        cost_usd: sum(&cost),
        cost,
        idle_month_usd: sum(&idle(&PROD, prices)),
        prices_taken: table.taken,
        prices_unseen: prices.unseen.iter().copied().collect(),
        checks: outcome.checks,
        inputs,
        assumptions,
        load,
    })
}

/// Provisioned processes, if the sale needs them.
fn waiting_processes(checks: &[Check], prices: &Region) -> Option<Line> {
    let check = checks.iter().find(|check| check.name == "lambda_scaling" && !check.holds())?;
    let gb_s = check.need * PROD.provisioned_functions * function_gb() * PROVISIONED_S;
    Some(Line::new(prices, "Lambda, provisioned processes", gb_s, "lambda_provisioned_gb_s"))
}

/// Seconds until all orders are written, at the pace of consumers and table once both are large enough.
fn drain_s(inputs: &Inputs, assumed: &Assumptions, checks: &[Check]) -> f64 {
    let have = |name| {
        let check = checks.iter().find(|check| check.name == name);
        check.map_or(0.0, |check| if check.can_hold() { check.need.max(check.have) } else { check.most })
    };
    let consumed = have("order_consumers") * PROD.batch / ORDER_BATCH_S;
    let written = have("table_writes").max(assumed.table_warm_writes) / writes_of_an_order(assumed);
    f64::from(inputs.units) / consumed.min(written)
}

fn to_do(inputs: &Inputs, assumed: &Assumptions, outcome: &Outcome) -> Result<Vec<Task>> {
    let failing = outcome.checks.iter().filter(|check| !check.holds() && check.can_hold());
    let task = |check: &Check| {
        let begin_by = inputs.opens_at.checked_sub(DAY * check.lead_days(assumed) as i32)?;
        Ok(Task { check: check.name, how: check.how, need: check.need, begin_by })
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
                Mover::Nothing => format!("needs {need} {unit}, but the limit is {most}: {how}"),
                Mover::Quota => format!("needs {need} {unit}; do not count on more than {most}, even if you {how}"),
                Mover::Setting => format!("needs {need} {unit}; settings allow at most {most}: {how}"),
            };
            Reason { check: check.name, why }
        })
        .collect();
    if all.is_empty() {
        let waits = outcome.checks.iter().filter(|check| !check.holds()).map(|check| check.name);
        let waits: Vec<&str> = waits.collect();
        let what = if waits.is_empty() { "loading the round".to_owned() } else { waits.join(", ") };
        let why = format!("opens at {}, but this takes until {:.0}: {what}", inputs.opens_at, outcome.earliest);
        all.push(Reason { check: "opens_at", why });
    }
    all
}

fn alternatives(inputs: &Inputs, assumed: &Assumptions, outcome: &Outcome) -> Vec<Alternative> {
    let mut all = Vec::new();
    let mut say = |kind, what| all.push(Alternative { kind, what });
    if outcome.possible {
        say("later_opening", format!("open at {:.0} or later", outcome.earliest));
    }
    let fits = |inputs: &Inputs| holds(inputs, assumed);
    let of = |audience: u64, units: u64| Inputs {
        audience,
        units: u32::try_from(units).unwrap_or(u32::MAX),
        ..inputs.clone()
    };
    let asked = u64::from(inputs.units);
    if let Some(units) = most(asked, |units| fits(&of(inputs.audience, units))) {
        say("fewer_units", format!("sell at most {}", of_these(units, "unit")));
    }
    // Bounds that even a crowd of one exceeds come first.
    let Some(units) = most(asked, |units| fits(&of(1, units))) else { return all };
    let first = if units < asked {
        let sales = asked.div_ceil(units);
        format!("sell at most {} per sale ({sales} sales in all), and ", of_these(units, "unit"))
    } else {
        String::new()
    };
    if let Some(people) = most(inputs.audience, |people| fits(&of(people, units))) {
        say("smaller_audience", format!("{first}invite at most {}", command_line::people(people)));
    }
    match inputs.line {
        LineAsked::No => {
            let with = Inputs { line: LineAsked::Auto, ..of(inputs.audience, units) };
            if let (true, Some(line)) = (fits(&with), Setup::of(&with, assumed).line) {
                let people = command_line::people(line.admits_per_s.into());
                say("line", format!("{first}put a line in front that admits {people} a second (LINE=auto)"));
            }
        }
        LineAsked::PerS(per_s) => {
            let slower = |per_s: u64| Inputs { line: LineAsked::PerS(per_s as u32), ..of(inputs.audience, units) };
            if let Some(per_s) = most(u64::from(per_s), |per_s| fits(&slower(per_s))) {
                say("line", format!("{first}admit at most {} a second", command_line::people(per_s)));
            }
        }
        LineAsked::Auto => {}
    }
    if inputs.line != LineAsked::No {
        let earlier = |opens_early_s: u32| Inputs { opens_early_s, ..of(inputs.audience, units) };
        let mut hours = (1..=OPENS_EARLY.end() / 3_600).filter(|hours| hours * 3_600 > inputs.opens_early_s);
        if let Some(hours) = hours.find(|hours| fits(&earlier(hours * 3_600))) {
            let before = of_these(hours.into(), "hour");
            let when = "if that makes people come that much earlier";
            say("earlier_line", format!("{first}open the line {before} before the sale, {when}"));
        }
    }
    all
}

/// A sale that takes at least this many seconds calls few people to the front in vain.
const CALM_S: f64 = 60.0;

fn notes(inputs: &Inputs, assumed: &Assumptions, load: &Load, setup: &Setup) -> Vec<String> {
    let mut all = Vec::new();
    let calm_per_s = (f64::from(inputs.units) / (assumed.comes_share * CALM_S)).ceil();
    if let (Some(line), Some(sold_out_s)) = (setup.line, load.sold_out_s)
        && sold_out_s < CALM_S
        && f64::from(line.admits_per_s) > calm_per_s
    {
        all.push(format!(
            "the line learns of a purchase seconds after the turn, so at {} a second it calls many for nothing; with \
             LINE={calm_per_s} the sale takes about a minute and the line calls fewer",
            command_line::people(line.admits_per_s.into()),
        ));
    }
    let opened = load.connections_per_s;
    if opened > WEBSOCKET_CONNECTIONS.value {
        all.push(format!(
            "{} winners a second open a WebSocket, but AWS accepts {}: the others poll until they are connected",
            count(opened),
            count(WEBSOCKET_CONNECTIONS.value),
        ));
    }
    if load.sign_ins_per_s > COGNITO_SIGN_INS.value {
        all.push(format!(
            "{} people a second sign in: check that your identity provider can take them; a Cognito user pool takes {} by default",
            count(load.sign_ins_per_s),
            count(COGNITO_SIGN_INS.value),
        ));
    }
    if setup.lanes > 1 {
        all.push(format!(
            "with {} lanes, a few per cent of the units change lanes at the end; each transfer costs two more calls to Redis",
            setup.lanes,
        ));
    }
    all
}
