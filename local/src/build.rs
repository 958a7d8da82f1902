//! Builds every function once and puts each where the CDK app, like `cargo lambda`, looks for it.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::install::{install_packages, run};
use crate::paths;
use crate::stages::Stage;

/// Every function: the name of its package, of its binary and of its folder.
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

/// The cargo that runs this program, or else the one on the path, at the checkout's root.
///
/// What `cargo run` told this program of its own package is kept from it: build scripts that look at such variables, as
/// those of `ring` do, would run anew, and all that depends on them.
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

/// Runs a `cargo build` to its end. The stage says how far it is.
///
/// # Errors
/// If it fails, with what the compiler said.
pub fn compile(cargo: &mut Command, stage: &Stage) -> Result<()> {
    // Without these, cargo says how far it is at a terminal alone.
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

/// Compiles programs as the tests have them: with the features that the whole workspace gives to what all share, so that
/// this is compiled once.
///
/// # Errors
/// Likewise.
pub fn compile_programs(names: &[&str], stage: &Stage) -> Result<()> {
    compile(cargo().args(["build", "--workspace"]).args(names.iter().flat_map(|name| ["--bin", name])), stage)
}

/// A line of cargo's.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Progress(String),
    Status,
    Diagnostic,
}

impl Said {
    fn read(line: &str) -> Self {
        // A status is a verb that ends in the twelfth column.
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

/// Builds the functions for this machine and stages them as `target/lambda/NAME/bootstrap`.
///
/// # Errors
/// If the build fails, with what the compiler said.
pub fn build_functions(stage: &Stage) -> Result<()> {
    compile_programs(&FUNCTIONS, stage)?;
    for function in FUNCTIONS {
        let folder = paths::target().join("lambda").join(function);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let built = paths::target().join("debug").join(function);
        stage_program(&built, &folder.join("bootstrap")).with_context(|| format!("cannot copy {}", built.display()))?;
    }
    Ok(())
}

/// Builds the pages into `web/dist`, with the packages that they are made of.
///
/// # Errors
/// If Node or npm is missing, or the build fails, with what it said.
pub fn build_pages(stage: &Stage) -> Result<()> {
    install_packages(&paths::web(), stage)?;
    run(Command::new("node").arg("build.js").current_dir(paths::web()), "node")
}

/// Puts a copy of a program where it is deployed from, unless there is one. Whoever deploys at this moment gets the old one
/// or the new one, whole.
fn stage_program(built: &Path, staged: &Path) -> std::io::Result<()> {
    let new = built.metadata()?;
    if let Ok(old) = staged.metadata()
        && (old.len(), old.modified()?) == (new.len(), new.modified()?)
    {
        return Ok(());
    }
    // Beside the folder: all that is in there is deployed.
    let folder = staged.parent().unwrap_or(staged);
    let coming = folder.with_extension(format!("coming-{}", std::process::id()));
    std::fs::copy(built, &coming)?;
    std::fs::File::options().write(true).open(&coming)?.set_modified(new.modified()?)?;
    std::fs::rename(coming, staged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_staged_when_it_is_another_one() {
        let folder = paths::target().join(format!("staging-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("function")).unwrap();
        let (built, staged) = (folder.join("built"), folder.join("function/bootstrap"));
        let inode = || std::os::unix::fs::MetadataExt::ino(&staged.metadata().unwrap());
        std::fs::write(&built, "one").unwrap();
        stage_program(&built, &staged).unwrap();
        let first = inode();
        stage_program(&built, &staged).unwrap();
        assert_eq!(inode(), first, "the same one was copied again");
        std::fs::write(&built, "two").unwrap();
        // An older one than what is there, as of a branch that one comes back to.
        let earlier = staged.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(1);
        std::fs::File::options().write(true).open(&built).unwrap().set_modified(earlier).unwrap();
        stage_program(&built, &staged).unwrap();
        assert_eq!(std::fs::read_to_string(&staged).unwrap(), "two");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "something was left behind");
        std::fs::remove_dir_all(folder).unwrap();
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
