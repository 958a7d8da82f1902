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

/// Builds the functions for this machine and stages them as `target/lambda/NAME/bootstrap`.
///
/// # Errors
/// If the build fails, with what the compiler said.
pub fn build_functions() -> Result<()> {
    run(cargo().args(["build", "--quiet", "--workspace", "--bins"]), "cargo")?;
    for function in FUNCTIONS {
        let folder = paths::target().join("lambda").join(function);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let (built, staged) = (paths::target().join("debug").join(function), folder.join("bootstrap"));
        std::fs::copy(&built, &staged).with_context(|| format!("cannot copy {}", built.display()))?;
    }
    Ok(())
}
