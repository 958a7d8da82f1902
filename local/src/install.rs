//! Installs the parts of the local cloud into the checkout. Nothing outside of it changes.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::paths;

/// A program that the machine must have.
struct Needed {
    program: &'static str,
    version: &'static str,
    /// The Debian packages that contain it.
    packages: &'static str,
}

const NEEDED: [Needed; 3] = [
    Needed { program: "python3", version: " (3.11 or later)", packages: "python3 python3-venv" },
    Needed { program: "node", version: " (20.19, or 22.12 and later)", packages: "nodejs" },
    Needed { program: "npm", version: "", packages: "npm" },
];

/// Installs what `local/install.sh` installs, unless it is there already.
///
/// # Errors
/// If a required program is missing or fails; the message names it.
pub(crate) fn install() -> Result<()> {
    // Without the module, Python makes half an environment.
    if !paths::venv().join("installed").exists() {
        ensure_venv("python3")?;
    }
    run(&mut Command::new(paths::root().join("local/install.sh")), "local/install.sh")
}

/// Checks that the machine has the programs that the local cloud needs, including those needed later. Without Node, the
/// minutes of building the functions would be wasted.
///
/// # Errors
/// Names all that are missing.
pub(crate) fn ensure_programs() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let missing = || NEEDED.iter().filter(|needed| !is_there(needed.program));
    let names: Vec<String> = missing().map(|needed| format!("{}{}", needed.program, needed.version)).collect();
    let packages: Vec<&str> = missing().map(|needed| needed.packages).collect();
    ensure!(names.is_empty(), "not installed: {}; apt install {}", names.join(", "), packages.join(" "));
    Ok(())
}

/// Debian's Python lacks the part of `venv` that creates an environment.
fn ensure_venv(python: &str) -> Result<()> {
    let imports = ["-c", "import ensurepip, venv"];
    let tried = Command::new(python).args(imports).stdin(Stdio::null()).output();
    ensure!(tried.is_ok_and(|tried| tried.status.success()), "python3 has no venv module; apt install python3-venv");
    Ok(())
}

/// Runs a tool to its end.
///
/// # Errors
/// If it cannot be started, naming `tool`, or fails, with its output.
pub fn run(command: &mut Command, tool: &str) -> Result<()> {
    let output = match command.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("not installed: {tool}"),
        output => output.with_context(|| format!("{tool} does not start"))?,
    };
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        bail!("{tool} failed ({}):\n{}", output.status, String::from_utf8_lossy(&printed));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_in_one_line() {
        let missing = run(&mut Command::new("no-such-program"), "node").unwrap_err();
        assert_eq!(format!("{missing:#}"), "not installed: node");
        let without_venv = ensure_venv("false").unwrap_err();
        assert_eq!(format!("{without_venv:#}"), "python3 has no venv module; apt install python3-venv");
        ensure_venv("true").unwrap();
    }
}
