//! Prints the scripts as Redis gets them: all, or the one that is named.

use std::process::ExitCode;

use stock::expanded::ALL;

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        for (name, text) in ALL {
            println!("==> lua/{name}.lua <==\n{text}");
        }
        return ExitCode::SUCCESS;
    };
    match ALL.iter().find(|script| script.0 == name) {
        Some((_, text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        None => {
            let names: Vec<&str> = ALL.iter().map(|script| script.0).collect();
            eprintln!("There is no script {name}, but {}", names.join(", "));
            ExitCode::FAILURE
        }
    }
}
