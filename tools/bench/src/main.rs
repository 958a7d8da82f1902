//! Measurements of the built functions on this machine.

mod binaries;
mod lanes;
mod report;
mod rival;

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
    /// One busy sale on 1, 2, 4 and 8 lanes: throughput, and the work of Redis
    Lanes(lanes::Plan),
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
        Command::Lanes(plan) => lanes::run(&plan).await,
        Command::Report(plan) => report::run(&plan).await,
        Command::Rival(plan) => rival::run(&plan).await,
    };
    done.map_or_else(|error| command_line::fail(&error), |()| ExitCode::SUCCESS)
}
