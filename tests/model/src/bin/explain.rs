//! Reports whether the model explains each trace: `explain target/traces/*.jsonl`.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use model::trace::{Trace, explain};

fn main() -> Result<ExitCode> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        eprintln!("error: name the traces to explain, such as target/traces/*.jsonl");
        return Ok(ExitCode::from(2));
    }
    let mut code = ExitCode::SUCCESS;
    for path in paths {
        let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        let trace = Trace::read(&text).with_context(|| path.clone())?;
        let begun = Instant::now();
        match explain(&trace).with_context(|| path.clone())? {
            Ok(explained) if explained.broken.is_empty() => {
                println!("✓ {path}: {explained}, {:.3} s", begun.elapsed().as_secs_f32());
                continue;
            }
            Ok(explained) => {
                println!("✗ {path}: {explained}, but these properties do not hold on its path: {:?}", explained.broken);
            }
            Err(unexplained) => println!("✗ {path}: {unexplained}"),
        }
        code = ExitCode::FAILURE;
    }
    Ok(code)
}
