//! The built functions.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use local::build::{ALL_FUNCTIONS, FUNCTIONS, compile, compile_programs};
use local::paths;
use local::stages::Stage;

/// Which build of the functions is measured.
#[derive(Clone, Copy)]
pub(crate) enum Binaries {
    /// The optimized build that ships.
    Shipped,
    /// The tests' build, which exists already where the tests have run.
    Tested,
}

impl Binaries {
    pub(crate) fn path(self, name: &str) -> PathBuf {
        paths::target().join(self.profile()).join(self.program(name))
    }

    fn program(self, name: &str) -> &str {
        match self {
            Self::Tested if FUNCTIONS.contains(&name) => ALL_FUNCTIONS,
            _ => name,
        }
    }

    pub(crate) fn build(self, names: &[&str]) -> Result<()> {
        let (what, stage) = ("the functions", Stage::heading("Building the functions"));
        match self {
            Self::Shipped => {
                let packages = names.iter().flat_map(|name| ["--package", *name]);
                compile(what, ["--release"].into_iter().chain(packages))?;
            }
            Self::Tested => {
                let programs: BTreeSet<&str> = names.iter().map(|name| self.program(name)).collect();
                compile_programs(what, &Vec::from_iter(programs))?;
            }
        }
        stage.done(format!("target/{}", self.profile()));
        Ok(())
    }

    pub(crate) const fn profile(self) -> &'static str {
        match self {
            Self::Shipped => "release",
            Self::Tested => "debug",
        }
    }
}
