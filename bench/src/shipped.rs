//! Functions built as they are shipped.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use local::build::cargo;
use local::paths;

/// Where a function is that was built as it is shipped.
pub(crate) fn built(name: &str) -> PathBuf {
    paths::target().join("release").join(name)
}

/// Builds functions as they are shipped.
pub(crate) fn build(names: &[&str]) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--release"]);
    build.args(names.iter().flat_map(|name| ["--package", name]));
    ensure!(build.status()?.success(), "the functions do not build");
    Ok(())
}
