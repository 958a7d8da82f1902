//! Measurements of the built functions on this machine.

mod binaries;
mod calls;
mod event;
mod flood;
mod lanes;
mod outage;
mod random_ids;
mod report;
mod rival;
mod system;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// How the system performs under load, as ratios within one run.
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Honest buyers, with and without a flood of forged and repeated requests beside them
    Flood(flood::Plan),
    /// One busy sale on 1, 2, 4 and 8 lanes: throughput, and the work of Redis
    Lanes(lanes::Plan),
    /// Redis stops answering in the middle of a sale
    Outage(outage::Plan),
    /// Random ids that were never issued
    RandomIds(random_ids::Plan),
    /// Every figure of docs/performance.md, as ratios
    Report(report::Plan),
    /// Ours as `make up` serves it and a plain Node service, in turns
    Rival(rival::Plan),
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Arguments = match command_line::begin() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    let done = match arguments.command {
        Command::Flood(plan) => flood::run(&plan).await,
        Command::Lanes(plan) => lanes::run(&plan).await,
        Command::Outage(plan) => outage::run(&plan).await,
        Command::RandomIds(plan) => random_ids::run(&plan).await,
        Command::Report(plan) => report::run(&plan).await,
        Command::Rival(plan) => rival::run(&plan).await,
    };
    done.map_or_else(|error| command_line::fail(&error), |()| ExitCode::SUCCESS)
}
