//! The command line. It ends with 0 if a plan holds, 2 if it is refused, and 1 if it was asked wrongly.

use std::ffi::OsString;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use jiff::Timestamp;

use crate::deployment::{DEV, PROD};
use crate::inputs::{Assumptions, Inputs};
use crate::million::{self, Part};
use crate::plan::{self, Verdict};
use crate::prices::Prices;
use crate::{idle, report};

/// It was asked wrongly.
pub const USAGE: u8 = 1;
const REFUSED: u8 = 2;

/// What is printed, and the exit status.
#[derive(Debug)]
pub struct Answer {
    /// What is printed.
    pub text: String,
    /// The exit status.
    pub status: u8,
}

/// Says before a sale what it needs, whether it holds, and what it costs
#[derive(Debug, Parser)]
#[command(name = "planner")]
struct Cli {
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plans one sale
    Plan {
        /// Units on sale
        #[arg(long)]
        units: u32,
        /// People who come
        #[arg(long)]
        audience: u64,
        /// When it opens, with its zone: 2026-12-24T18:00:00+01:00
        #[arg(long)]
        opens_at: String,
        /// Where it runs
        #[arg(long, default_value = "us-east-1")]
        region: String,
        /// When the plan is made, instead of now
        #[arg(long)]
        now: Option<Timestamp>,
        #[command(flatten)]
        assumptions: Assumptions,
    },
    /// What a deployment costs in a month in which nobody comes
    Idle {
        /// Where it runs
        #[arg(long, default_value = "us-east-1")]
        region: String,
    },
    /// What a million attempts cost
    Million {
        /// Where it runs
        #[arg(long, default_value = "us-east-1")]
        region: String,
        #[command(flatten)]
        assumptions: Assumptions,
    },
}

/// Runs a command line, program name first.
///
/// # Errors
/// Says what was asked wrongly.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Result<Answer> {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(help) if matches!(help.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return Ok(Answer { text: help.to_string(), status: 0 });
        }
        // Its text has its cause in it already.
        Err(error) => return Err(anyhow::anyhow!("{}", error.to_string().trim_end())),
    };
    match cli.command {
        Command::Plan { units, audience, opens_at, region, now, assumptions } => {
            let now = now.unwrap_or_else(Timestamp::now);
            let inputs = Inputs::new(units, audience, &opens_at, now, &region)?;
            let plan = plan::plan(inputs, assumptions.validated()?)?;
            let text = if cli.json { json(&plan)? } else { report::plan(&plan) };
            Ok(Answer { text, status: if plan.verdict == Verdict::Holds { 0 } else { REFUSED } })
        }
        Command::Idle { region } => {
            let table = Prices::load()?;
            let prices = table.of(&region)?;
            let bill = |what, on| Part { what, lines: idle::lines(on, prices) };
            let bills = [bill("dev, a month without anybody", &DEV), bill("prod, a month without anybody", &PROD)];
            answer(cli.json, &bills, &table, &region)
        }
        Command::Million { region, assumptions } => {
            let table = Prices::load()?;
            let bills = million::parts(&assumptions.validated()?, table.of(&region)?);
            answer(cli.json, &bills, &table, &region)
        }
    }
}

fn answer(as_json: bool, bills: &[Part], table: &Prices, region: &str) -> Result<Answer> {
    let unseen: Vec<String> = table.of(region)?.unseen.iter().cloned().collect();
    let text = if as_json { json(&bills)? } else { report::bills(bills, &table.taken, &unseen) };
    Ok(Answer { text, status: 0 })
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
