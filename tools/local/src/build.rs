//! Builds every function once and puts it where the CDK app and `cargo lambda` look for it.

use std::io::{BufReader, Read};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::archives::stage_functions;
use crate::install::run;
use crate::paths;
use crate::stages::Stage;

/// Every function, by the name of its package, binary and folder.
pub const FUNCTIONS: [&str; 18] = [
    "admin",
    "admission",
    "catalog",
    "daily_reset",
    "dead_letter",
    "draw",
    "emitter",
    "expiry",
    "notifier",
    "order",
    "payment",
    "reconciliation",
    "reservation",
    "waiting_room",
    "warmup",
    "webhook",
    "websocket",
    "winners",
];

/// The cargo that runs this program, or else the one on the path, in the checkout's root.
///
/// The variables that `cargo run` set for this program's package are removed: build scripts that read such variables,
/// as those of `ring` do, would run again, and everything that depends on them would be rebuilt.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    cargo.current_dir(paths::root());
    cargo
}

/// Runs a `cargo build` to its end and shows the progress in `stage`.
pub fn compile(cargo: &mut Command, stage: &Stage) -> Result<()> {
    // Without these, cargo only shows progress on a terminal.
    cargo.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "80");
    cargo.env("CARGO_TERM_COLOR", "never").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = cargo.spawn().context("cargo does not start; install Rust with rustup")?;
    let (mut line, mut said) = (Vec::new(), String::new());
    for byte in BufReader::new(child.stderr.take().context("its standard error is a pipe")?).bytes() {
        match byte? {
            b'\r' | b'\n' => {
                let text = String::from_utf8_lossy(&line);
                match Said::read(&text) {
                    Said::Progress(progress) => stage.say(progress),
                    Said::Status => {}
                    Said::Diagnostic => said += &format!("{text}\n"),
                }
                line.clear();
            }
            byte => line.push(byte),
        }
    }
    ensure!(child.wait()?.success(), "cargo failed:\n{said}");
    Ok(())
}

/// Compiles programs with the same features as the tests, those of the whole workspace, so that shared crates are
/// compiled only once.
pub fn compile_programs(names: &[&str], stage: &Stage) -> Result<()> {
    compile(cargo().args(["build", "--workspace"]).args(names.iter().flat_map(|name| ["--bin", name])), stage)
}

/// A line of cargo's output.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Progress(String),
    Status,
    Diagnostic,
}

impl Said {
    fn read(line: &str) -> Self {
        // A status line has a verb that ends in the twelfth column.
        let verb = line.get(..12).map(str::trim_start).filter(|verb| {
            verb.starts_with(|c: char| c.is_ascii_uppercase()) && verb[1..].chars().all(|c| c.is_ascii_lowercase())
        });
        match verb {
            Some("Building") => {
                let far = line.rsplit_once("] ").and_then(|(_, rest)| rest.split(':').next()?.split_once('/'));
                far.map_or(Self::Status, |(done, all)| Self::Progress(format!("{} of {}", done, all.trim())))
            }
            Some("Blocking") => Self::Progress("waiting for another cargo".to_owned()),
            Some("Updating" | "Downloading" | "Downloaded") => Self::Progress("downloading crates".to_owned()),
            Some(_) => Self::Status,
            None => Self::Diagnostic,
        }
    }
}

/// The program that is all functions.
pub const ALL_FUNCTIONS: &str = "functions";

/// Builds the functions for this machine, as one program, and stages it as `target/lambda/NAME/bootstrap` of each, with
/// the archive beside it.
pub fn build_functions(stage: &Stage) -> Result<()> {
    compile_programs(&[ALL_FUNCTIONS], stage)?;
    let folders = FUNCTIONS.map(|function| paths::target().join("lambda").join(function));
    stage_functions(&paths::target().join("debug").join(ALL_FUNCTIONS), &folders)
}

pub fn build_pages() -> Result<()> {
    run(Command::new("node").arg("build.js").current_dir(paths::web()), "node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_here_runs_what_those_on_aws_run() {
        let read = |path: String| std::fs::read_to_string(paths::root().join(path)).unwrap();
        for name in FUNCTIONS {
            assert_eq!(read(format!("functions/{name}/src/main.rs")), format!("context::main!({name});\n"));
        }
        let all = read("tools/local/functions/src/main.rs".to_owned());
        let (_, list) = all.rsplit_once('[').unwrap();
        let listed: Vec<&str> = list.split(']').next().unwrap().split(',').map(str::trim).collect();
        assert_eq!(listed, FUNCTIONS);
    }

    #[test]
    fn progress_is_told_from_what_the_compiler_says() {
        let progress = |text: &str| Said::Progress(text.to_owned());
        for (line, said) in [
            ("    Building [=====>        ] 12/456: serde, aws-sdk-sqs(build)   ", progress("12 of 456")),
            ("    Building [=============> ] 455/456", progress("455 of 456")),
            ("    Blocking waiting for file lock on build directory", progress("waiting for another cargo")),
            (" Downloading crates ...", progress("downloading crates")),
            ("   Compiling serde v1.0.0", Said::Status),
            ("    Finished `dev` profile [optimized] target(s) in 0.3s", Said::Status),
            ("error[E0308]: mismatched types", Said::Diagnostic),
            ("  --> src/main.rs:1:1", Said::Diagnostic),
            ("12 |     Something Building [1/2]", Said::Diagnostic),
            ("   |", Said::Diagnostic),
            ("", Said::Diagnostic),
            ("ééééééé: no", Said::Diagnostic),
        ] {
            assert_eq!(Said::read(line), said, "{line:?}");
        }
    }
}
