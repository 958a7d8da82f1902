//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Parser;
use clap::builder::FalseyValueParser;
use command_line::{Stop, whole};
use planner::inputs::{Assumptions, Inputs, LineAsked, MAX_ADMITS_PER_S, MAX_LANES, OPENS_EARLY_S};
use serde_json::json;

use crate::opening::{Run, run as simulate};
use crate::scenario::Scenario;
use crate::{plot, report};

/// Most people of one simulation: each takes 64 bytes of memory plus pending events.
const MAX_PEOPLE: u32 = 10_000_000;
const SCHEMA: u32 = 1;

/// Simulates the opening of a sale with a line in front of it, in virtual time
#[derive(Debug, Parser)]
#[command(name = "simulate", bin_name = "./flash simulate")]
struct Cli {
    /// Units on sale
    #[arg(long, env = "UNITS", default_value_t = 10_000, value_parser = whole(1..=1_000_000_u32))]
    units: u32,
    /// People who take part
    #[arg(long, env = "AUDIENCE", default_value_t = 1_000_000, value_parser = whole(1..=MAX_PEOPLE))]
    audience: u32,
    /// Lanes of the sale, 1 to 16. Default: as few as the sale needs
    #[arg(long, env = "LANES", value_parser = whole(1..=MAX_LANES))]
    lanes: Option<u32>,
    /// People a second that the line admits. Default: the planner's suggestion
    #[arg(long, env = "LINE", value_parser = whole(1..=MAX_ADMITS_PER_S))]
    line: Option<u32>,
    /// Runs, each with its own random numbers
    #[arg(long, env = "SEEDS", default_value_t = 20, value_parser = whole(1..=10_000_u64))]
    seeds: u64,
    /// File for the plot
    #[arg(long, env = "OUT")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long, env = "JSON", value_parser = FalseyValueParser::new())]
    json: bool,
    #[command(flatten)]
    assumptions: Assumptions,
}

/// Runs a command line, program name first, and returns its output.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Result<String> {
    let cli: Cli = match command_line::parse(args) {
        Ok(cli) => cli,
        Err(Stop::Help(text)) => return Ok(text),
        Err(Stop::Mistake(line)) => bail!(line),
    };
    let now = jiff::Timestamp::now();
    let inputs =
        Inputs::new(cli.units, cli.audience.into(), now + jiff::SignedDuration::from_hours(1_000), now, "us-east-1")?;
    let line = cli.line.map_or(LineAsked::Auto, LineAsked::PerS);
    let inputs = Inputs { lanes: cli.lanes, line, opens_early_s: OPENS_EARLY_S, ..inputs };
    let scenario = Scenario::planned(&inputs, &cli.assumptions)?;
    let runs = all(&scenario, cli.seeds);
    if let Some(out) = &cli.out {
        if let Some(folder) = out.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        std::fs::write(out, plot::draw(&runs)?).with_context(|| format!("cannot write {}", out.display()))?;
    }
    if cli.json {
        let seconds = runs.first().map_or(&[][..], |run| &run.seconds);
        let answer = json!({ "schema": SCHEMA, "scenario": scenario, "runs": runs, "seconds": seconds });
        return Ok(serde_json::to_string_pretty(&answer)? + "\n");
    }
    Ok(report::report(&scenario, &runs))
}

/// One run for each seed, in parallel on all processors. Only the first one keeps its seconds.
pub fn all(scenario: &Scenario, seeds: u64) -> Vec<Run> {
    let one = |seed| {
        let mut run = simulate(scenario, seed);
        if seed > 1 {
            run.seconds = Vec::new();
        }
        run
    };
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut runs: Vec<Run> = std::thread::scope(|threads| {
        let spawned = (1..=workers as u64).map(|first| {
            let its = (first..=seeds).step_by(workers);
            threads.spawn(move || its.map(one).collect::<Vec<_>>())
        });
        let spawned: Vec<_> = spawned.collect();
        spawned.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    runs.sort_by_key(|run| run.seed);
    runs
}
