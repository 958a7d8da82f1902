//! A built function as a process of its own, as Lambda starts it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use uuid::Uuid;

use crate::process::Kept;
use crate::{emulator, paths};

/// A function's process. It ends with this value, or with this program at the latest.
pub struct FunctionProcess {
    process: Kept,
    log: PathBuf,
}

impl FunctionProcess {
    /// Starts the function `name` from its built `bootstrap`, with `settings` and no other environment. It takes its events
    /// from the Runtime API at `api`, and talks to AWS at `aws`.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(
        name: &'static str,
        bootstrap: &Path,
        api: SocketAddr,
        aws: &str,
        settings: &[(&str, String)],
    ) -> Result<Self> {
        let lambda = [
            ("AWS_LAMBDA_RUNTIME_API", api.to_string()),
            ("AWS_LAMBDA_FUNCTION_NAME", name.to_owned()),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128".to_owned()),
            ("AWS_ENDPOINT_URL", aws.to_owned()),
            ("AWS_ACCESS_KEY_ID", emulator::ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", emulator::ACCESS_KEY.to_owned()),
            ("AWS_REGION", emulator::REGION.to_owned()),
        ];
        // The keeper is started by `env`, since it takes its own environment from this program.
        let mut command = Command::new("env");
        command.arg("-i").args(lambda.iter().chain(settings).map(|(name, value)| format!("{name}={value}")));
        command.arg(bootstrap);
        let log = paths::state().join(format!("{name}-{}.log", Uuid::now_v7().as_simple()));
        Ok(Self { process: Kept::start(name, &command, &log)?, log })
    }

    /// Its resident memory, in kB.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn resident_kb(&self) -> Result<u64> {
        self.process.resident_kb()
    }

    /// What it has logged so far.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn logged(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.log)?)
    }
}

impl Drop for FunctionProcess {
    fn drop(&mut self) {
        self.process.kill();
        if !std::thread::panicking() {
            let _ = std::fs::remove_file(&self.log);
        }
    }
}
