//! The command line of the local cloud.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand};
use command_line::Signals;
use local::beside::{run_beside, watch};
use local::build::FUNCTIONS;
use local::buy::buy;
use local::check_draw::check_draw;
use local::check_line::{check_line, line_keys};
use local::crowd::{Visitors, send_crowd};
use local::demo::{Plan, run_demo};
use local::event::event;
use local::lend::{lend, serve};
use local::operate::{audit, export, redrive};
use local::running::Ports;
use local::sales::Public;
use local::setup::{install, set_up};
use local::soak::{Soak, run_soak};
use local::supervisor::supervise;
use local::tokens::{Wanted, print_tokens};
use local::trace::trace;
use local::up::{down, seal_pass, sign_token, up};
use sale::{ReservationId, RoundId, RoundNumber, SaleId, UserId};

const WHICH_RESERVATION: &str =
    "which reservation? `./flash trace ID`, with the reservation_id of a 202 or of `GET /v1/orders`";

/// The queues with dead letters that can be sent back.
const QUEUES: [&str; 5] = ["orders", "expiry", "winners", "webhook", "quarantine"];

/// The whole system on this machine: no Docker, no AWS account.
#[derive(Parser)]
#[command(name = "local", bin_name = "./flash")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

// A round of a sale.
#[derive(Args)]
struct Round {
    /// The sale
    #[arg(long, env = "SALE", default_value = "lamp")]
    sale: SaleId,
    /// The round
    #[arg(long, env = "ROUND", default_value = "1")]
    round: RoundNumber,
}

impl Round {
    fn id(self) -> RoundId {
        RoundId { sale: self.sale, number: self.round }
    }
}

// `./flash` lists them with the first line of each comment; those with two slashes are its headings.
#[derive(Subcommand)]
enum Command {
    // Start and sell
    /// Stage a flash sale and prove that every unit is accounted for
    Demo(Plan),
    /// Start everything, leave it running, and print how to buy something
    Up {
        /// Use the functions as they are, without building them
        #[arg(long)]
        built: bool,
    },
    /// Stop what `up` started
    Down,
    /// Buy a unit of a sale of the running `up`, and explain each step up to the paid order
    Buy {
        /// The user's id
        #[arg(long, env = "USER_ID", default_value = "bob")]
        user: UserId,
        /// The sale
        #[arg(long, env = "SALE", default_value = "lamp")]
        sale: SaleId,
    },
    /// Send a crowd to a sale of the running `up`
    Crowd(Visitors),
    /// Send dead letters of the running `up` back to their queue
    Redrive {
        /// The queue whose dead letters to send back
        #[arg(env = "QUEUE", value_parser = QUEUES)]
        queue: Option<String>,
    },
    // Look
    /// Print a token for a user of the running `up`
    Token {
        /// The user's id
        #[arg(long, env = "USER_ID", default_value = "alice")]
        user: UserId,
        /// Make the user an operator
        #[arg(long, env = "OPERATOR", value_parser = FalseyValueParser::new())]
        operator: bool,
    },
    /// Print tokens of many users of the running `up`, and passes into a sale, as input for `load`
    Tokens(Wanted),
    /// Print a pass into a sale of the running `up`, valid for five minutes
    Pass {
        /// The user's id
        #[arg(long, env = "USER_ID", default_value = "alice")]
        user: UserId,
        #[command(flatten)]
        round: Round,
    },
    /// Print what every function of the running `up` logged about a purchase, in order
    Trace {
        /// The reservation's id
        #[arg(env = "ID")]
        reservation: Option<ReservationId>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write all orders of a round of the running `up` to a file, which appears once it is complete
    Export {
        #[command(flatten)]
        round: Round,
        /// csv for spreadsheets, jsonl for programs
        #[arg(long, env = "FORMAT", default_value = "csv", value_parser = ["csv", "jsonl"])]
        format: String,
        /// The file; SALE-ROUND.FORMAT by default
        #[arg(long, env = "OUT")]
        out: Option<PathBuf>,
    },
    /// Print the keys with which CloudFront verifies tickets
    LineKeys {
        /// The pass keys, in the form of their secret: KEYS='{"signing":1,"key1":"…"}'
        #[arg(long, env = "KEYS", hide_env_values = true)]
        keys: pass::KeyRing,
    },
    // Verify
    /// Print where every unit of a round of the running `up` is; fail unless each is in one place
    Audit {
        #[command(flatten)]
        round: Round,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Verify the draw of a round from its public document alone; fail unless it matches its commitment
    CheckDraw {
        /// The sale
        #[arg(long, env = "SALE", default_value = "packet")]
        sale: SaleId,
        /// The round
        #[arg(long, env = "ROUND", default_value = "1")]
        round: RoundNumber,
        /// The unit to print the award of
        #[arg(long, env = "UNIT")]
        unit: Option<u32>,
        #[command(flatten)]
        public: Public,
    },
    /// Verify the line of a sale from its public document alone; fail unless it matches its commitment
    CheckLine {
        #[command(flatten)]
        round: Round,
        /// The ticket to print the place of
        #[arg(long, env = "TICKET")]
        ticket: Option<String>,
        /// The commitment that you noted before the opening
        #[arg(long, env = "COMMITMENT")]
        commitment: Option<String>,
        #[command(flatten)]
        public: Public,
    },
    /// Sell while days pass, processes die and versions change, and prove that nothing grows or gets lost
    Soak(Soak),
    // Develop
    /// Install the pinned local cloud into the checkout
    Install,
    /// Build the functions into target/lambda, and the pages into web/dist
    Build,
    /// Run a function from its sources against the running `up`, for `cargo lambda invoke`
    Watch {
        /// The function
        #[arg(env = "FUNCTION", default_value = "reservation", value_parser = FUNCTIONS)]
        function: String,
    },
    /// Print a sample of `events/` as an event for `cargo lambda invoke` that the running `up` accepts now
    Event {
        /// FUNCTION/NAME, as in `events/FUNCTION/NAME.json`
        #[arg(env = "SAMPLE", default_value = "reservation/reserve")]
        sample: String,
    },
    /// Start a system on free ports, run a program with its SHOP_URL, and end the system
    Beside {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        program: Vec<String>,
    },
    /// Keep what `up` started running; `up` starts this by itself
    #[command(hide = true)]
    Supervise(Ports),
    /// Start a system for all tests of a run, as a setup script of nextest
    #[command(hide = true)]
    Lend,
    /// Keep what `lend` started running; `lend` starts this by itself
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        runner: i32,
        #[arg(long)]
        folder: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Arguments = match command_line::begin() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    let work = async {
        match arguments.command {
            Command::Install => install()?,
            Command::Build => set_up()?,
            Command::Up { built } => up(built).await?,
            Command::Down => down()?,
            Command::Supervise(ports) => supervise(ports).await?,
            Command::Watch { function } => watch(&function).await?,
            Command::Event { sample } => println!("{}", event(&sample).await?),
            Command::Token { user, operator } => println!("{}", sign_token(&user, operator)?),
            Command::Tokens(wanted) => print_tokens(&wanted).await?,
            Command::Crowd(visitors) => send_crowd(&visitors).await?,
            Command::Buy { user, sale } => buy(&user, &sale).await?,
            Command::Pass { user, round } => println!("{}", seal_pass(&user, &round.id()).await?),
            Command::Audit { round, json } => return audit(&round.id(), json).await,
            Command::Export { round, format, out } => export(&round.id(), &format, out.as_deref()).await?,
            Command::CheckDraw { sale, round: number, unit, public } => {
                check_draw(&RoundId { sale, number }, unit, &public).await?;
            }
            Command::CheckLine { round, ticket, commitment, public } => {
                check_line(&round.id(), ticket.as_deref(), commitment.as_deref(), &public).await?;
            }
            Command::LineKeys { keys } => println!("{:#}", line_keys(&keys)),
            Command::Trace { reservation, json } => trace(&reservation.context(WHICH_RESERVATION)?, json).await?,
            Command::Redrive { queue } => {
                let which = || format!("which queue? `./flash redrive QUEUE`, one of {}", QUEUES.join(", "));
                redrive(&queue.with_context(which)?).await?;
            }
            Command::Beside { program } => return run_beside(&program).await,
            Command::Lend => lend().await?,
            Command::Serve { runner, folder } => serve(runner, &folder).await?,
            Command::Demo(plan) => return run_demo(&plan).await,
            Command::Soak(soak) => return run_soak(&soak).await,
        }
        anyhow::Ok(ExitCode::SUCCESS)
    };
    let interrupted = async {
        match Signals::listen() {
            Ok(mut signals) => signals.next().await,
            Err(_) => std::future::pending().await,
        }
    };
    // What `work` holds is dropped when a signal comes, and dropping it ends what it started.
    tokio::select! {
        result = work => result.unwrap_or_else(|error| command_line::fail(&error)),
        status = interrupted => {
            eprintln!("interrupted; stopped everything that was started");
            ExitCode::from(status)
        }
    }
}
