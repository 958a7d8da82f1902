//! A day in an hour: a long run on the real parts, with everything that happens to a deployment, while people buy. In the
//! end nothing may have grown, nothing may be lost, and every key must expire. `docs/local.md` explains it.

mod board;
mod changed;
mod check;
mod director;
mod drain;
mod journal;
mod keys;
mod operator;
mod program;
mod report;
mod ringing;
mod run;
mod sample;
mod system;
mod tally;
mod verdict;
mod visitor;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use command_line::whole;
use parking_lot::Mutex;

use self::journal::{Journal, folder};
use self::program::Program;
use self::run::Run;
use self::sample::{Sample, Sampler};
use self::system::System;
use crate::cloud::Cloud;
use crate::control::Control;
use crate::lagging::LaggingIndexes;
use crate::paths::usable_state;
use crate::setup::set_up;
use crate::stages::Stage;

/// How far behind the table the indexes are that reconciliation reads.
const INDEXES_LAG: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Args)]
pub struct Soak {
    /// Minutes for which visitors come
    #[arg(long, env = "MINUTES", default_value_t = 60, value_parser = whole(2..=240_u32))]
    minutes: u32,
    /// The number that determines what happens when and what each visitor does
    #[arg(long, env = "SEED", default_value_t = 1)]
    seed: u64,
    /// Use the functions as they are, without building them
    #[arg(long)]
    built: bool,
}

pub async fn run_soak(soak: &Soak) -> Result<ExitCode> {
    usable_state()?;
    let journal = Journal::begin()?;
    let program = Program::make(soak.minutes, soak.seed);
    println!("{program}");
    journal.note(0.0, &program.to_string());
    if !soak.built {
        tokio::task::spawn_blocking(set_up).await??;
    }
    let stage = Stage::spinner("Starting and deploying");
    let system = Arc::new(System::of(Cloud::start().await?)?);
    let indexes = LaggingIndexes::start(&system.deployment.endpoint, INDEXES_LAG);
    let control = Control::new(&system.deployment.endpoint);
    let reconciliation = &system.deployment.reconciliation_function;
    control.set_variable(reconciliation, "AWS_ENDPOINT_URL_DYNAMODB", &indexes.endpoint()).await?;
    let run = Arc::new(Run::prepare(program, Arc::clone(&system), journal).await?);
    director::open_first_day(&run).await?;
    stage.done(&system.deployment.api_url);

    let (sampler, samples, rung) = (Sampler::of(system), Mutex::new(Vec::new()), Mutex::default());
    let stage = Stage::spinner("A day in an hour");
    let work = async { futures::future::join(director::direct(&run), visitor::come(&run)).await };
    tokio::select! {
        ((), ()) = work => {}
        never = watch::take_samples(&run, &sampler, &samples) => match never {},
        never = ringing::listen(&run, &sampler, &rung) => match never {},
        never = watch::tell(&run, &stage, &samples) => match never {},
        never = watch::heal(&run) => match never {},
        never = watch::look_for_both_scripts(&run) => match never {},
    }
    stage.done(format!("{} visitors", run.tally.lock().visitors));

    let rest = drain::drain(&run, &sampler, &samples).await?;
    let samples: Vec<Sample> = samples.into_inner();
    let rung = rung.into_inner().check(indexes.lagged());
    let report = verdict::judge(&run, rest, &samples, rung).await?;
    let file = report.write(&samples)?;
    println!("{report}\nThe report is {}; report.json, samples.jsonl and soak.log are beside it.", file.display());
    run.journal.note(run.now_s(), &format!("written to {}", folder().display()));
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
