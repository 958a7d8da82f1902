//! The command line of the load generator.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use clap::builder::FalseyValueParser;
use command_line::{Signals, grouped, of_these, whole};
use http::Method;
use load::client::{CONNECTIONS, MAX_CONNECTIONS};
use load::plan::{MAX_OVER, MAX_USERS};
use load::users::{Credentials, Crowd};
use load::{Client, Curve, Plan, ProgressLine, Report, Request, Response, Stopped, Target, has_line, visits_until};
use sale::SaleId;
use serde_json::Value;

/// The longest wait for the sale's page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends load to a deployment of the HTTP API, and reports.
#[derive(Parser)]
#[command(name = "load", bin_name = "./flash load")]
struct Arguments {
    /// The address of the API
    #[arg(long, env = "URL")]
    url: Option<Target>,
    /// The sale
    #[arg(long, env = "SALE", default_value = "lamp")]
    sale: SaleId,
    /// Users who come, up to a million
    #[arg(long, env = "USERS", default_value_t = 1_000, value_parser = whole(1..=MAX_USERS as u32))]
    users: u32,
    /// Seconds over which they come, up to an hour
    #[arg(long, env = "OVER_S", default_value_t = 10, value_parser = whole(0..=MAX_OVER.as_secs()))]
    over_s: u64,
    /// How their arrivals are distributed over that time
    #[arg(long, env = "CURVE", value_enum, default_value_t = Curve::Rush)]
    curve: Curve,
    /// The fraction of them that misbehaves
    #[arg(long, env = "BAD", default_value_t = 0.05, value_parser = part)]
    bad: f64,
    /// A file with a line for each user: a token, optionally followed by a pass; users without a pass go through the
    /// gate
    #[arg(long, env = "TOKENS")]
    tokens: Option<PathBuf>,
    /// A shell command that prints the token of `{user}`
    #[arg(long, env = "TOKEN_COMMAND")]
    token_command: Option<String>,
    /// A shell command that prints the content of TOKENS, for USERS users of SALE at URL; used if neither TOKENS nor
    /// TOKEN_COMMAND is given
    #[arg(long)]
    tokens_from: Option<String>,
    /// Stop if this fraction of the answers of the last seconds are 500 or above, or missing
    #[arg(long, env = "STOP_AT_ERRORS", default_value_t = 0.5, value_parser = part)]
    stop_at_errors: f64,
    /// The largest number of connections
    #[arg(long, env = "CONNECTIONS", default_value_t = CONNECTIONS as u32, value_parser = whole(1..=MAX_CONNECTIONS as u32))]
    connections: u32,
    /// The folder for report.json and report.html
    #[arg(long, env = "OUT", default_value = "target/load")]
    out: PathBuf,
    /// Send it to another machine, which is yours
    #[arg(long, env = "YES_THIS_IS_MINE", value_parser = FalseyValueParser::new())]
    yes_this_is_mine: bool,
}

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "a fraction from 0 to 1".to_owned())
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Arguments = match command_line::begin() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    // On a thread of the runtime, like the requests: otherwise every request would first wake this thread.
    match tokio::spawn(run(arguments)).await {
        Ok(done) => done.unwrap_or_else(|error| command_line::fail(&error)),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// Sends the load and writes the report. Returns failure if it did not end well.
async fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut signals = Signals::listen()?;
    // Checks everything possible before somebody waits for a million tokens.
    let target = target(arguments.url.as_ref(), arguments.yes_this_is_mine)?;
    let plan = Plan::new(arguments.users as usize, Duration::from_secs(arguments.over_s), arguments.curve)?;
    let plan = plan.stop_at_errors(arguments.stop_at_errors)?;
    let out = &arguments.out;
    let Arguments { tokens, token_command, tokens_from, .. } = &arguments;
    ensure!(tokens.is_none() || token_command.is_none(), "--tokens and --token-command are both given; one is enough");
    ensure!(
        tokens.is_some() || token_command.is_some() || tokens_from.is_some(),
        "no tokens: give --tokens FILE, with one per line, or --token-command '… {{user}}'"
    );
    Report::try_folder(out)
        .with_context(|| format!("no report can be written to {}; choose another folder with --out", out.display()))?;
    let client = Client::with_connections(target.clone(), arguments.connections as usize);
    let finding = async {
        ensure_no_line(&client, &arguments.sale).await?;
        credentials(&arguments, target).await
    };
    let found = tokio::select! {
        found = finding => found?,
        status = signals.next() => {
            eprintln!("interrupted; nothing was sent");
            return Ok(ExitCode::from(status));
        }
    };
    let Some((credentials, target)) = found else { return Ok(ExitCode::FAILURE) };

    let settings = vec![
        ("sale", arguments.sale.to_string()),
        ("misbehave", arguments.bad.to_string()),
        ("tokens", credentials.len().to_string()),
        ("connections at most", arguments.connections.to_string()),
    ];
    let (url, began, tokens) = (target.url().to_owned(), jiff::Timestamp::now(), credentials.len());
    let client = Client::with_connections(target, arguments.connections as usize);
    let crowd = Arc::new(Crowd::new(client, arguments.sale.clone(), credentials, arguments.bad)?);
    tell(arguments.users as usize, tokens, &crowd);
    let mut status = 0;
    let interrupted = async {
        status = signals.next().await;
        crowd.hold_back();
    };
    let outcome = visits_until(interrupted, &plan, ProgressLine::stderr(), |visit| {
        let crowd = Arc::clone(&crowd);
        async move { crowd.visit(&visit).await }
    });
    let outcome = outcome.await;
    let report = Report { url, settings, began, plan, outcome };
    print!("{report}");
    // The disk may be full by now. Then only the printed report is left.
    let [json, html] = report.write(out)?;
    println!("\n  {}\n  {}", json.display(), html.display());
    Ok(match report.outcome.stopped {
        None => ExitCode::SUCCESS,
        Some(Stopped::Interrupted) => ExitCode::from(status),
        Some(_) => ExitCode::FAILURE,
    })
}

fn target(url: Option<&Target>, is_mine: bool) -> Result<Target> {
    let target =
        url.context("--url is missing: the address of the API, such as the one that `make up` prints as \"API\"")?;
    ensure!(
        is_mine || target.is_loopback(),
        "{} is not this machine; if it is yours, confirm with --yes-this-is-mine",
        target.url()
    );
    Ok(target.clone())
}

/// The users' tokens and where to send them. `None` if the command for all of them failed, which has printed why.
async fn credentials(arguments: &Arguments, target: Target) -> Result<Option<(Vec<Credentials>, Target)>> {
    let users = arguments.users as usize;
    if let Some(file) = &arguments.tokens {
        let read = tokio::fs::read_to_string(file).await.map_err(Into::into);
        let credentials = read.and_then(|text| Credentials::read(&text));
        return Ok(Some((credentials.with_context(|| format!("the tokens in {}", file.display()))?, target)));
    }
    if let Some(command) = &arguments.token_command {
        if users > 1 {
            eprintln!("The command for tokens runs for each of {users} users");
        }
        return Ok(Some((Credentials::ask(command, users).await?, target)));
    }
    let command = arguments.tokens_from.as_deref().context("no tokens")?;
    // The command identifies a system by one address, however it is written.
    let target = target.on_ipv4_loopback();
    let made = Credentials::made_by(command, target.url(), users, &arguments.sale).await?;
    Ok(made.map(|credentials| (credentials, target)))
}

/// Fails if the sale has a line: nobody who does not wait there gets a pass or a unit.
async fn ensure_no_line(client: &Client, sale: &SaleId) -> Result<()> {
    let request = Request::new(Method::GET, &format!("/v1/sales/{sale}"))?;
    let asked = tokio::time::timeout(PAGE_TIMEOUT, client.send(0, &request)).await;
    // Whatever else is wrong shows in the answers to the users.
    let Ok(Ok(Response { status: 200, body, .. })) = asked else { return Ok(()) };
    let page: Value = serde_json::from_slice(&body).unwrap_or_default();
    ensure!(!has_line(&page), "{sale} has a line, in which these users cannot wait; choose a sale without one");
    Ok(())
}

fn tell(users: usize, tokens: usize, crowd: &Crowd) {
    let (through_the_gate, past_the_gate) = (crowd.through_the_gate(users), crowd.past_the_gate(users));
    if tokens < users {
        eprintln!("{} share {}", of_these(users as u64, "user"), of_these(tokens as u64, "token"));
    }
    if through_the_gate > 0 {
        let them = of_these(through_the_gate as u64, "user");
        let users = grouped(users);
        eprintln!("{them} of {users} will go through the gate; this machine computes their proofs of work");
    }
    if past_the_gate > 0 {
        eprintln!("{} without a pass will misbehave instead", of_these(past_the_gate as u64, "user"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/command.rs` has who is refused, and other bounds.
    #[test]
    fn another_machine_may_be_yours() {
        assert!(target(Some(&"https://shop.example.org".parse().unwrap()), true).is_ok());
        let good = |arguments: &[&str]| Arguments::try_parse_from([&["load"], arguments].concat()).is_ok();
        assert!(good(&["--users", "1000000", "--over-s", "3600", "--bad", "0", "--curve", "ramp"]));
    }
}
