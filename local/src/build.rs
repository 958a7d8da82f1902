//! Builds every function once and puts each where the CDK app, like `cargo lambda`, looks for it.

use std::process::Command;

use anyhow::{Context, Result};

use crate::install::run;
use crate::paths;

/// Every function: the name of its package, of its binary and of its folder.
pub const FUNCTIONS: [&str; 13] = [
    "admin",
    "admission",
    "catalog",
    "daily_reset",
    "dead_letter",
    "expiry",
    "notifier",
    "order",
    "payment",
    "reconciliation",
    "reservation",
    "warmup",
    "websocket",
];

/// Builds the functions for this machine and stages them as `target/lambda/NAME/bootstrap`.
///
/// # Errors
/// If the build fails, with what the compiler said.
pub fn build_functions() -> Result<()> {
    let mut build = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    build.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(paths::root());
    run(&mut build, "cargo")?;
    for function in FUNCTIONS {
        let folder = paths::target().join("lambda").join(function);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let (built, staged) = (paths::target().join("debug").join(function), folder.join("bootstrap"));
        std::fs::copy(&built, &staged).with_context(|| format!("cannot copy {}", built.display()))?;
    }
    Ok(())
}
