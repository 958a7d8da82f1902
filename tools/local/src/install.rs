//! Installs the parts of the local cloud into the checkout. Nothing outside of it changes.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::paths;

/// Installs what `tools/install.sh` installs, unless it is there already.
pub(crate) fn install() -> Result<()> {
    run(&mut Command::new(paths::root().join("tools/install.sh")), "tools/install.sh")
}

/// Checks that the machine has the programs that the local cloud needs, including those needed later.
pub(crate) fn ensure_programs() -> Result<()> {
    let needed = Command::new(paths::root().join("tools/needed.sh")).stdin(Stdio::null()).output()?;
    ensure!(needed.status.success(), "{}", String::from_utf8_lossy(&needed.stderr).trim_end());
    Ok(())
}

/// Runs a tool to its end.
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
    }
}
