//! Runs a built function as a process, as Lambda does.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::paths;
use crate::process::{Kept, resident_kb};

pub const REGION: &str = "us-east-1";
/// The local credentials: the emulator accepts any.
pub const ACCESS_KEY: &str = "test";
/// The stack of a function's threads. Unoptimized, an answer needs more than the 2 MB that Rust gives a thread.
pub const STACK_BYTES: usize = 16 * 1024 * 1024;
/// The smallest memory that Lambda gives a function.
pub const SMALLEST_MEMORY_MB: u32 = 128;

/// What Lambda adds to a function's environment, and the AWS endpoint.
pub fn surroundings(name: &str, handler: &str, aws: &str, memory_mb: u32) -> Vec<(String, String)> {
    [
        ("_HANDLER", handler.to_owned()),
        ("AWS_LAMBDA_FUNCTION_NAME", name.to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory_mb.to_string()),
        ("AWS_ENDPOINT_URL", aws.to_owned()),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", ACCESS_KEY.to_owned()),
        ("AWS_REGION", REGION.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// A function's process. It ends when this value is dropped, or with this program.
pub struct FunctionProcess {
    process: Kept,
    log: PathBuf,
    keeps_log: bool,
}

impl FunctionProcess {
    /// Starts the function `name` from its built `bootstrap`, with `settings` and no other environment. It takes its
    /// events from the Runtime API at `api`, and uses AWS at `aws`. Fails if it does not start.
    pub fn start(
        name: &str,
        bootstrap: &Path,
        api: SocketAddr,
        aws: &str,
        settings: &[(&str, String)],
    ) -> Result<Self> {
        let mut environment = surroundings(name, name, aws, SMALLEST_MEMORY_MB);
        environment.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let log = paths::state().join(format!("{name}-{}.log", Uuid::now_v7().as_simple()));
        let mut process = Self::start_with(name, bootstrap, api, &environment, &log)?;
        process.keeps_log = false;
        Ok(process)
    }

    /// The same with exactly this environment, the address of the Runtime API and a stack. Appends to `log`.
    pub(crate) fn start_with(
        name: &str,
        bootstrap: &Path,
        api: SocketAddr,
        environment: &[(String, String)],
        log: &Path,
    ) -> Result<Self> {
        // The keeper is started by `env`, since it would otherwise inherit this program's environment.
        let mut command = Command::new("env");
        command.arg("-i").args([format!("AWS_LAMBDA_RUNTIME_API={api}"), format!("RUST_MIN_STACK={STACK_BYTES}")]);
        command.args(environment.iter().map(|(name, value)| format!("{name}={value}"))).arg(bootstrap);
        Ok(Self { process: Kept::start_behind(name, &command, log)?, log: log.to_owned(), keeps_log: true })
    }

    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        self.process.has_ended()
    }

    pub(crate) fn group(&self) -> u32 {
        self.process.group()
    }

    pub fn resident_kb(&self) -> Result<u64> {
        resident_kb(self.group()).context("it does not run")
    }

    pub fn logged(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.log)?)
    }
}

impl Drop for FunctionProcess {
    fn drop(&mut self) {
        self.process.kill();
        if !self.keeps_log && !std::thread::panicking() {
            let _ = std::fs::remove_file(&self.log);
        }
    }
}
