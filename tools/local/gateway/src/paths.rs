//! Paths of the checkout.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// More than a nearly full disk may have left.
const PROBE_BYTES: usize = 64 * 1024;

/// The checkout that this program was built from.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

pub fn venv() -> PathBuf {
    root().join("tools/.venv")
}

pub fn venv_program(name: &str) -> PathBuf {
    venv().join("bin").join(name)
}

pub fn cdk() -> PathBuf {
    root().join("infra/cdk")
}

/// The pages as built by `web/build.js`.
pub fn pages() -> PathBuf {
    root().join("web/dist")
}

/// The build folder, whatever `CARGO_TARGET_DIR` says.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The folder for logs, states and reports of the local cloud: `target/local` or `LOCAL_STATE`, so that a test can have
/// its own running system. Absolute, since programs in other folders get paths below it.
pub fn state() -> PathBuf {
    // An empty variable counts as unset, as always.
    let told = std::env::var_os("LOCAL_STATE").filter(|folder| !folder.is_empty());
    told.map_or_else(|| target().join("local"), |folder| std::path::absolute(&folder).unwrap_or_else(|_| folder.into()))
}

/// The same, created and tested to be writable. Fails if it is not: names the folder and what to do, before something
/// else fails with a worse message.
pub fn usable_state() -> Result<PathBuf> {
    let state = state();
    let probe = state.join(format!("probe-{}", std::process::id()));
    let tried = std::fs::create_dir_all(&state).and_then(|()| std::fs::write(&probe, [b'x'; PROBE_BYTES]));
    let _ = std::fs::remove_file(probe);
    tried.with_context(|| {
        format!("cannot write to {}; make room there, or set LOCAL_STATE to another folder", state.display())
    })?;
    Ok(state)
}
