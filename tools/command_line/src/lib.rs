//! What command-line tools have in common: one line says what is wrong and what to do, and counts read alike.

mod mistake;
mod signals;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, Command, Parser};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

pub use signals::Signals;
pub use words::{grouped, of_these, people, whole};

/// The exit status for a mistake in the command line.
const USAGE: u8 = 2;
/// The exit status that a shell reports for a program that SIGPIPE ended.
const NOBODY_READS: i32 = 128 + 13;
/// The limit of open files that every shell allows.
const FEWEST_FILES: u64 = 1_024;

/// Why a command line cannot be run.
#[derive(Debug)]
pub enum Stop {
    /// It asks for help, which is this text.
    Help(String),
    /// What is wrong with it, in one line.
    Mistake(String),
}

impl Stop {
    pub fn tell(&self) -> ExitCode {
        match self {
            Self::Help(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Self::Mistake(line) => {
                eprintln!("error: {line}");
                ExitCode::from(USAGE)
            }
        }
    }
}

/// Parses a command line, program name first. A value comes from an option or from an environment variable, and a mistake
/// names the one it came from. An empty variable counts as unset.
pub fn parse<T: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<T, Stop> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = prepared(T::command());
    let parsed = command.try_get_matches_from_mut(&arguments).and_then(|mut found| T::from_arg_matches_mut(&mut found));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Stop::Help(error.to_string()),
        _ => {
            // With its variables, also those that are empty.
            let mut whole = T::command();
            whole.build();
            Stop::Mistake(mistake::line(&whole, &arguments, &error))
        }
    })
}

/// Parses a tool's command line at its start. From then on the program ends quietly when nobody reads its output. If
/// help is asked for or there is a mistake, prints that and returns the exit status.
pub fn begin<T: Parser>() -> Result<T, ExitCode> {
    end_with_reader();
    parse(std::env::args_os()).map_err(|stop| stop.tell())
}

fn prepared(command: Command) -> Command {
    command.mut_args(without_empty_variable).mut_subcommands(prepared)
}

fn without_empty_variable(argument: Arg) -> Arg {
    let empty = argument.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let argument = if empty { argument.env(None::<&str>) } else { argument };
    // `--units -1` is an invalid number, not an option `-1`.
    if argument.get_action().takes_values() { argument.allow_negative_numbers(true) } else { argument }
}

/// Reports a failure in one line. If `main` returned it, a backtrace would follow wherever `RUST_BACKTRACE` is set.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

/// Makes the program end quietly when nobody reads its output any more: `println!` would panic before `| head`.
pub fn end_with_reader() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to std") && text.contains("Broken pipe")) {
            std::process::exit(NOBODY_READS);
        }
        others(panic);
    }));
}

/// Raises the limit of open files to `count` for this program and programs it starts, as far as permitted. Returns the
/// limit that applies then; connections beyond it fail with an error.
pub fn allow_open_files(count: u64) -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return FEWEST_FILES };
    let wanted = count.min(hard).max(soft);
    if soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_err() {
        return soft;
    }
    wanted
}
