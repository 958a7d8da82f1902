//! The built functions.

use std::path::PathBuf;

use anyhow::Result;
use local::build::{cargo, compile};
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
        let mut build = cargo();
        build.arg("build");
        match self {
            Self::Shipped => build.arg("--release").args(names.iter().flat_map(|name| ["--package", name])),
            // Of the whole workspace, like the tests: of a package alone, what all share would be built with other features.
            Self::Tested => build.arg("--workspace").args(names.iter().flat_map(|name| ["--bin", name])),
        };
        compile(&mut build, &stage)?;
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
