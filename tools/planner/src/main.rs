//! What a sale needs, whether it holds, and what it costs.

use std::process::ExitCode;

fn main() -> ExitCode {
    command_line::end_with_reader();
    match planner::cli::run(std::env::args_os()) {
        Ok(answer) => {
            print!("{}", answer.text);
            ExitCode::from(answer.status)
        }
        Err(error) => command_line::fail(&error),
    }
}
