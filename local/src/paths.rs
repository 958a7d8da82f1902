//! Where things are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// More than a nearly full disk may have left for a file's name.
const PROBE_BYTES: usize = 64 * 1024;

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

/// The sources of the pages.
pub fn web() -> PathBuf {
    root().join("web")
}

/// The pages as `web/build.js` builds them.
pub fn pages() -> PathBuf {
    web().join("dist")
}

/// Where builds go, whatever `CARGO_TARGET_DIR` says.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Where logs, states and reports of the local cloud go: `target/local`, unless `LOCAL_STATE` says otherwise, so that a
/// test has a running system of its own. Absolute, since programs that run in other folders get paths below it.
pub fn state() -> PathBuf {
    // An empty variable is none, as with every other one.
    let told = std::env::var_os("LOCAL_STATE").filter(|folder| !folder.is_empty());
    told.map_or_else(|| target().join("local"), |folder| std::path::absolute(&folder).unwrap_or_else(|_| folder.into()))
}

/// The same, made and found to take a file.
///
/// # Errors
/// If it does not: it says which folder that is and what to do, before something fails that says less.
pub(crate) fn usable_state() -> Result<PathBuf> {
    let state = state();
    let probe = state.join(format!("probe-{}", std::process::id()));
    let tried = std::fs::create_dir_all(&state).and_then(|()| std::fs::write(&probe, [b'x'; PROBE_BYTES]));
    let _ = std::fs::remove_file(probe);
    tried.with_context(|| {
        format!("cannot write to {}; make room there, or set LOCAL_STATE to another folder", state.display())
    })?;
    Ok(state)
}
