//! Installs what the local cloud is made of into the checkout: nothing outside of it changes.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::paths;

/// Installs the pinned Python packages and the CDK app's packages, unless they are there already.
///
/// # Errors
/// If `python3` with `venv`, or `npm`, is missing or fails; the message names it.
pub fn install() -> Result<()> {
    let requirements = paths::root().join("local/requirements.txt");
    once(&paths::venv().join("installed"), &requirements, || {
        run(
            Command::new("python3").args(["-m", "venv", "--clear"]).arg(paths::venv()),
            "python3 with its venv module",
        )?;
        run(
            Command::new(paths::venv_program("pip")).args(["install", "--quiet", "--requirement"]).arg(&requirements),
            "pip",
        )
    })?;
    let lock = paths::cdk().join("package-lock.json");
    once(&paths::cdk().join("node_modules/.installed"), &lock, || {
        run(
            Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(paths::cdk()),
            "npm",
        )
    })
}

/// Does `work` unless `stamp` says that it was done for `input` as it is now.
fn once(stamp: &Path, input: &Path, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = std::fs::read(input).with_context(|| format!("cannot read {}", input.display()))?;
    if std::fs::read(stamp).is_ok_and(|done| done == wanted) {
        return Ok(());
    }
    work()?;
    std::fs::write(stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Runs a tool to its end.
///
/// # Errors
/// If it cannot be started, with `tool` named, or fails, with what it printed.
pub fn run(command: &mut Command, tool: &str) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("{tool} is needed and does not start"))?;
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        bail!("{tool} failed ({}):\n{}", output.status, String::from_utf8_lossy(&printed));
    }
    Ok(())
}
