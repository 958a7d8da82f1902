//! Where things are.

use std::path::{Path, PathBuf};

/// The checkout that this program was built from.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where the virtual environment with the local cloud is.
pub fn venv() -> PathBuf {
    root().join("local/.venv")
}

/// A program of the virtual environment.
pub fn venv_program(name: &str) -> PathBuf {
    venv().join("bin").join(name)
}

/// The CDK app.
pub fn cdk() -> PathBuf {
    root().join("infra/cdk")
}

/// The page.
pub fn web() -> PathBuf {
    root().join("web")
}

/// Where builds go, whatever `CARGO_TARGET_DIR` says.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Where logs, states and reports of the local cloud go: `target/local`, unless `LOCAL_STATE` says otherwise, so that a
/// test has a running system of its own.
pub fn state() -> PathBuf {
    std::env::var_os("LOCAL_STATE").map_or_else(|| target().join("local"), PathBuf::from)
}
