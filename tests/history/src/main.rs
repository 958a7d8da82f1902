//! Checks a history that a run saved.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use history::{History, check};

/// Checks a history that a run saved
#[derive(Debug, Parser)]
#[command(name = "history")]
struct Arguments {
    /// The file: JSON lines
    file: PathBuf,
}

fn main() -> ExitCode {
    let Arguments { file } = match command_line::begin() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    match File::open(&file).and_then(|open| History::read(BufReader::new(open))) {
        Ok(history) => {
            let report = check(&history);
            println!("{report}");
            if report.objections().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {}: {error}", file.display());
            ExitCode::from(2)
        }
    }
}
