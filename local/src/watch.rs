//! A function that runs from its sources, behind `cargo lambda invoke`.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::build::cargo;
use crate::paths;
use crate::up::{environment, running};

/// Compiles a function, saying so, and becomes `cargo lambda watch` with the settings of the running system. By itself that
/// compiles at the first invocation, while whoever invokes sees nothing for minutes.
///
/// # Errors
/// If nothing is running, the function does not compile, or `cargo lambda` is not installed.
pub fn watch(function: &str) -> Result<()> {
    let (deployment, issuer) = running()?;
    let program = paths::venv_program("cargo-lambda");
    ensure!(program.exists(), "no {}; run `make setup`", program.display());
    eprintln!("Compiling {function} as `cargo lambda watch` does; the first time takes minutes");
    let built = cargo().args(["build", "--bin", function]).status().context("cargo is needed and does not start")?;
    ensure!(built.success(), "{function} does not compile");
    eprintln!("Ready for `cargo lambda invoke {function}`; Ctrl-C ends this");
    let failed = Command::new(program)
        .args(["lambda", "watch", "--ignore-changes"])
        .current_dir(paths::root())
        .envs(environment(&deployment, issuer.url()))
        .exec();
    Err(failed).context("cargo lambda does not start")
}
