//! The command line. Exits with 0 if a plan holds, 2 if it is refused, and 1 for a wrong command line.

use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::builder::FalseyValueParser;
use clap::{Parser, Subcommand};
use command_line::{Stop, whole};
use jiff::{RoundMode, Span, Timestamp, TimestampRound, Unit};

use crate::cost::{Part, idle, million};
use crate::deployment::{DEV, Deployment, LANES, PARKED, PROD};
use crate::inputs::{
    Assumptions, Inputs, LineAsked, MAX_ADMITS_PER_S, MAX_AUDIENCE, MAX_LANES, MAX_UNITS, OPENS_EARLY, OPENS_EARLY_S,
};
use crate::plan::{self, Verdict};
use crate::prices::Prices;
use crate::report;

const REFUSED: u8 = 2;
/// The default time until the opening.
const DEFAULT_LEAD_DAYS: i64 = 7;

/// What is printed, and the exit status.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub status: u8,
}

/// Plans a sale: what it needs, whether it holds, and what it costs
#[derive(Debug, Parser)]
#[command(name = "planner", bin_name = "./flash")]
struct Cli {
    /// Print JSON
    #[arg(long, global = true, env = "JSON", value_parser = FalseyValueParser::new())]
    json: bool,
    /// Where it runs
    #[arg(long, global = true, env = "REGION", default_value = "us-east-1", value_parser = region)]
    region: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plan one sale
    Plan {
        /// Units on sale
        #[arg(long, env = "UNITS", default_value_t = 100, value_parser = whole(1..=MAX_UNITS))]
        units: u32,
        /// People who come
        #[arg(long, env = "AUDIENCE", default_value_t = 10_000, value_parser = whole(1..=MAX_AUDIENCE))]
        audience: u64,
        /// When it opens, with a time zone: 2026-12-24T18:00:00+01:00. By default a week from now
        #[arg(long, env = "OPENS_AT", value_parser = moment)]
        opens_at: Option<Timestamp>,
        /// Lanes of the sale, 1 to 16. By default as few as it needs
        #[arg(long, env = "LANES", value_parser = whole(1..=MAX_LANES))]
        lanes: Option<u32>,
        /// The line in front of the sale: auto (if the sale needs one), no, or how many people a second it admits
        #[arg(long, env = "LINE", default_value = "auto", value_parser = line)]
        line: LineAsked,
        /// How many seconds before the opening the line starts to give out tickets
        #[arg(long, env = "LINE_EARLY_S", default_value_t = OPENS_EARLY_S, value_parser = whole(OPENS_EARLY))]
        line_early_s: u32,
        /// When the plan is made. By default now
        #[arg(long, value_parser = moment)]
        now: Option<Timestamp>,
        #[command(flatten)]
        assumptions: Assumptions,
    },
    /// What a deployment costs in an idle month
    Idle,
    /// What a million attempts cost
    Million {
        #[command(flatten)]
        assumptions: Assumptions,
    },
}

/// Runs a command line, program name first. Fails if the command line is wrong.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Result<Answer> {
    let Cli { json: as_json, region, command } = match command_line::parse(args) {
        Ok(cli) => cli,
        Err(Stop::Help(text)) => return Ok(Answer { text, status: 0 }),
        Err(Stop::Mistake(line)) => bail!(line),
    };
    match command {
        Command::Plan { units, audience, opens_at, lanes, line, line_early_s, now, assumptions } => {
            let now = now.unwrap_or_else(Timestamp::now);
            let opening = opens_at.map_or_else(|| in_a_week(now), Ok)?;
            let inputs = Inputs::new(units, audience, opening, now, &region)?;
            let inputs = Inputs { lanes, line, opens_early_s: line_early_s, ..inputs };
            let plan = plan::plan(inputs, assumptions)?;
            if opens_at.is_none() {
                eprintln!("--opens-at is not given: planning for a week from now, {opening}");
            }
            let text = if as_json { json(&plan)? } else { plan.to_string() };
            Ok(Answer { text, status: if plan.verdict == Verdict::Holds { 0 } else { REFUSED } })
        }
        Command::Idle => {
            let table = Prices::load()?;
            let prices = table.of(&region)?;
            let bill = |what, on: &Deployment| Part { what, lines: idle(on, prices) };
            let bills = [
                bill("dev, an idle month", &DEV),
                bill("prod, an idle month", &PROD),
                bill("prod while it is parked, an idle month", &PARKED),
                bill("prod with four shards and its own domain name, an idle month", &LANES),
            ];
            answer(as_json, &bills, &table, &region)
        }
        Command::Million { assumptions } => {
            let table = Prices::load()?;
            let bills = million(&assumptions, table.of(&region)?);
            answer(as_json, &bills, &table, &region)
        }
    }
}

fn answer(as_json: bool, bills: &[Part], table: &Prices, region: &str) -> Result<Answer> {
    let unseen: Vec<&str> = table.of(region)?.unseen.iter().copied().collect();
    let text = if as_json { json(&bills)? } else { report::bills(bills, table.taken, &unseen) };
    Ok(Answer { text, status: 0 })
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "a moment with its zone, such as 2026-12-24T18:00:00+01:00".to_owned())
}

fn line(text: &str) -> Result<LineAsked, String> {
    match text {
        "auto" => Ok(LineAsked::Auto),
        "no" => Ok(LineAsked::No),
        _ => match text.parse() {
            Ok(per_s @ 1..=MAX_ADMITS_PER_S) => Ok(LineAsked::PerS(per_s)),
            _ => Err("auto, no, or a whole number of people a second from 1 to 1,000,000".to_owned()),
        },
    }
}

/// A region with known prices.
fn region(text: &str) -> Result<String, String> {
    let table = Prices::load().map_err(|error| error.to_string())?;
    let known: Vec<&str> = table.regions().collect();
    if known.contains(&text) { Ok(text.to_owned()) } else { Err(format!("one of {}", known.join(", "))) }
}

/// The first full hour a week from now.
fn in_a_week(now: Timestamp) -> Result<Timestamp> {
    let hour = TimestampRound::new().smallest(Unit::Hour).mode(RoundMode::Ceil);
    Ok(now.checked_add(Span::new().hours(24 * DEFAULT_LEAD_DAYS))?.round(hour)?)
}
