//! The built functions.

use std::path::PathBuf;

use anyhow::Result;
use local::build::{cargo, compile, compile_programs};
use local::paths;
use local::stages::Stage;

/// Which build of the functions is measured.
#[derive(Clone, Copy)]
pub(crate) enum Binaries {
    /// As they are shipped.
    Shipped,
    /// As the tests have them: there already where those have run.
    Tested,
}

impl Binaries {
    /// Where a function is, once it is built.
    pub(crate) fn path(self, name: &str) -> PathBuf {
        paths::target().join(self.profile()).join(name)
    }

    /// Builds functions.
    ///
    /// # Errors
    /// If one does not build, with what the compiler said.
    pub(crate) fn build(self, names: &[&str]) -> Result<()> {
        let stage = Stage::spinner("Building the functions");
        match self {
            Self::Shipped => {
                let packages = names.iter().flat_map(|name| ["--package", name]);
                compile(cargo().args(["build", "--release"]).args(packages), &stage)?;
            }
            Self::Tested => compile_programs(names, &stage)?,
        }
        stage.done(format!("target/{}", self.profile()));
        Ok(())
    }

    /// The folder below `target`.
    pub(crate) const fn profile(self) -> &'static str {
        match self {
            Self::Shipped => "release",
            Self::Tested => "debug",
        }
    }
}
