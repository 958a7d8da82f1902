//! Prints the scripts as sent to Redis: all of them, or the one named on the command line; or, named `layout`, where the
//! fields of the packed string are.

use std::process::ExitCode;

use stock::expanded::{ALL, LAYOUT};

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        for (name, text) in ALL {
            println!("==> lua/{name}.lua <==\n{text}");
        }
        return ExitCode::SUCCESS;
    };
    match ALL.iter().chain(&[("layout", LAYOUT)]).find(|script| script.0 == name) {
        Some((_, text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        None => {
            let names: Vec<&str> = ALL.iter().map(|script| script.0).collect();
            eprintln!("There is no script {name}. There are {}", names.join(", "));
            ExitCode::FAILURE
        }
    }
}
