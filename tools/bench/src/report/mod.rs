//! Every figure that the documents quote, from one run: ratios between two things that are measured in turns.

mod allocations;
mod aws;
mod effort;
pub(crate) mod figure;
mod functions;
mod gateway;
mod growth;
mod measured;
mod orders;
pub(crate) mod page;
pub(crate) mod rivals;
mod scripts;
mod shop;
mod starts;
mod waste;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use clap::Args;
use local::build::FUNCTIONS;
use local::paths;
use local::setup::install;

use crate::rival;
use effort::{Effort, FULL, SHORT};
use measured::Report;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// A short run on the tests' build of the functions: it fails on a broken invariant or a missing figure. Its figures
    /// mean nothing. Documents stay unchanged
    #[arg(long)]
    short: bool,
    /// Print the report as JSON instead of the tables
    #[arg(long)]
    json: bool,
    /// Only this section. Documents stay unchanged
    #[arg(long, value_parser = SECTIONS)]
    only: Vec<String>,
}

const SECTIONS: [&str; 8] = ["scripts", "growth", "functions", "gateway", "rival", "orders", "starts", "waste"];

/// How many a whole run has.
const LINES: usize = 21;

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let effort = if plan.short { SHORT } else { FULL };
    let wanted = |section: &str| plan.only.is_empty() || plan.only.iter().any(|only| only == section);
    let mut built: Vec<&str> = Vec::new();
    for (section, functions) in [
        ("functions", &["reservation", "noop"][..]),
        ("gateway", &["reservation"]),
        ("orders", &["order"]),
        ("waste", &["reservation", "order"]),
    ] {
        built.extend(functions.iter().filter(|_| wanted(section)));
    }
    if wanted("starts") {
        built.extend(FUNCTIONS.iter().chain(&["noop"]));
    }
    let prepare = move || {
        install()?;
        if built.is_empty() { Ok(()) } else { effort.binaries.build(&built) }
    };
    tokio::task::spawn_blocking(prepare).await??;
    let mut report = measure(&effort, &wanted).await?;
    for _ in 1..effort.runs {
        report.add(measure(&effort, &wanted).await?);
    }
    report.made = made(&effort).await?;
    if plan.only.is_empty() {
        report.ensure_complete()?;
        report.write(plan.short)?;
    }
    if plan.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else if !plan.short {
        println!("\n{}", page::tables(&report));
    }
    Ok(())
}

async fn measure(effort: &Effort, wanted: &impl Fn(&str) -> bool) -> Result<Report> {
    let mut report = Report { runs: 1, ..Report::default() };
    macro_rules! measure {
        ($($section:ident)*) => {$(
            if wanted(stringify!($section)) {
                $section::measure(effort, &mut report).await.context(stringify!($section))?;
            }
        )*};
    }
    measure!(scripts growth functions gateway);
    if wanted("rival") {
        report.lines.extend(rival::lines(&effort.rival).await.context("rival")?);
    }
    measure!(orders starts waste);
    Ok(report)
}

async fn made(effort: &Effort) -> Result<String> {
    let valkey = rivals::Ring::open().await?.info("valkey_version").await?;
    let Effort { runs, rounds, .. } = effort;
    let cores = std::thread::available_parallelism()?;
    Ok(format!(
        "{cores} cores for everything, load included; Valkey {valkey}. {runs} runs of {rounds} rounds each: the median of all \
         rounds, with the lowest and the highest, and the median of each run."
    ))
}

impl Report {
    /// Adds the rounds of another run. Where there are no rounds, the last run's value wins.
    fn add(&mut self, mut other: Self) {
        for (line, earlier) in other.lines.iter_mut().zip(&self.lines) {
            line.rounds.splice(..0, earlier.rounds.iter().copied());
        }
        *self = Self { runs: self.runs + 1, ..other };
    }

    fn ensure_complete(&self) -> Result<()> {
        let names: Vec<&str> = self.lines.iter().map(|line| line.name).collect();
        let different = names.iter().collect::<BTreeSet<_>>().len();
        ensure!(different == LINES && names.len() == LINES, "not {LINES} figures, each once: {names:?}");
        for line in &self.lines {
            ensure!(!line.rounds.is_empty() && line.rounds.iter().all(|value| value.is_finite()), "{line:?}");
        }
        ensure!(self.starts.len() == FUNCTIONS.len(), "not every function was started");
        ensure!(!self.costs.is_empty(), "no answer was counted");
        Ok(())
    }

    fn write(&self, short: bool) -> Result<()> {
        let folder = paths::target().join("bench");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("report.json"), serde_json::to_string_pretty(self)?)?;
        // A short run tests that the tables can be made, but does not touch the document.
        let tables = page::tables(self);
        if !short {
            page::put(&paths::root().join("docs/performance.md"), &tables)?;
        }
        Ok(())
    }
}
