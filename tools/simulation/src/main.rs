//! Simulates the opening of a sale with a line in front of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    command_line::end_with_reader();
    match simulation::cli::run(std::env::args_os()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => command_line::fail(&error),
    }
}
