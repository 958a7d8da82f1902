//! Builds every function once and puts it where the CDK app and `cargo lambda` look for it.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::archives::stage_functions;
use crate::paths;
use crate::stages::without_bars;

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
pub fn cargo() -> Command {
    in_the_checkout(Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())))
}

/// The variables that `cargo run` set for this program's package are removed: build scripts that read such variables,
/// as those of `ring` do, would run again, and everything that depends on them would be rebuilt.
fn in_the_checkout(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command.current_dir(paths::root());
    command
}

pub fn compile<'a>(what: &str, arguments: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut compiling = in_the_checkout(Command::new(paths::root().join("tools/compile.sh")));
    compiling.args([&*format!("Compiling {what}"), "build"]).args(arguments).stdin(Stdio::null());
    // The compiler has said why.
    ensure!(without_bars(|| compiling.status())?.success(), "{what} cannot be compiled");
    Ok(())
}

/// Compiles programs with the features of the whole workspace, as tests are: shared crates are compiled once.
pub fn compile_programs(what: &str, names: &[&str]) -> Result<()> {
    compile(what, ["--workspace"].into_iter().chain(names.iter().flat_map(|name| ["--bin", *name])))
}

pub const ALL_FUNCTIONS: &str = "functions";

/// Builds the functions as one program, and stages it as `target/lambda/NAME/bootstrap` of each, with an archive.
pub fn build_functions() -> Result<()> {
    compile_programs("the functions", &[ALL_FUNCTIONS])?;
    let folders = FUNCTIONS.map(|function| paths::target().join("lambda").join(function));
    stage_functions(&paths::target().join("debug").join(ALL_FUNCTIONS), &folders)
}

pub fn build_pages() -> Result<()> {
    run(Command::new("node").arg("build.js").current_dir(paths::root().join("web")), "node")
}

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
    fn the_program_here_runs_what_those_on_aws_run() {
        let read = |path: String| std::fs::read_to_string(paths::root().join(path)).unwrap();
        for name in FUNCTIONS {
            assert_eq!(read(format!("functions/{name}/src/main.rs")), format!("context::main!({name});\n"));
        }
        let all = read("tools/local/functions/src/main.rs".to_owned());
        let (_, list) = all.rsplit_once("{ name:").unwrap();
        let listed: Vec<&str> = list.split('}').next().unwrap().split_whitespace().collect();
        assert_eq!(listed, FUNCTIONS);
    }

    #[test]
    fn what_is_missing_is_told_in_one_line() {
        let missing = run(&mut Command::new("no-such-program"), "node").unwrap_err();
        assert_eq!(format!("{missing:#}"), "not installed: node");
    }
}
