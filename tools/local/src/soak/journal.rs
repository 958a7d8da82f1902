use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use parking_lot::Mutex;

use super::program::clock;
use crate::paths;
use crate::stages::say_above;

/// The folder with everything that a run leaves behind.
pub(super) fn folder() -> PathBuf {
    paths::target().join("soak")
}

/// What happens, as it happens: in a file and on standard error.
pub(super) struct Journal(Mutex<File>);

impl Journal {
    pub(super) fn begin() -> Result<Self> {
        let file = folder().join("soak.log");
        std::fs::create_dir_all(folder()).context("cannot make target/soak")?;
        let file = File::create(&file).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Self(Mutex::new(file)))
    }

    pub(super) fn note(&self, at_s: f64, text: &str) {
        let mut file = self.0.lock();
        // A full disk is no reason to stop selling.
        let _ = writeln!(file, "{}  {text}", clock(at_s));
    }

    pub(super) fn tell(&self, at_s: f64, text: &str) {
        self.note(at_s, text);
        say_above(&format!("  {}  {text}", clock(at_s)));
    }
}
