//! The AWS emulator.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::paths;
use crate::process::{Kept, accepts, free_port, loopback};

const START_TIMEOUT: Duration = Duration::from_secs(120);
const START_TRIES: usize = 3;

/// What an emulator logs when it has its port.
const READY: &str = "Uvicorn running on http://";
/// It is a Python program for any server of the kind. Its own, hypercorn, has more than half of its time at work; this one
/// has the same work done at more than twice the speed.
const SERVER: &str = "uvicorn";
const APPLICATION: &str = "ministack.app:app";

/// Connections of a crowd of functions and what else it has open. It inherits what this program may have.
const MOST_FILES: u64 = 16_384;

/// A folder's name, up to the port.
const HOME: &str = "emulator-";

/// The region of everything that is local.
pub const REGION: &str = "us-east-1";
/// The credentials of everything that is local: the emulator takes any.
pub const ACCESS_KEY: &str = "test";

/// An AWS emulator that ends with this process, with the functions that it runs.
pub struct Emulator {
    port: u16,
    home: PathBuf,
    process: Option<Kept>,
}

impl Emulator {
    /// Starts an emulator on a free port of the loopback, whose ElastiCache is the Valkey on `valkey_port`.
    ///
    /// # Errors
    /// If the local cloud is not installed or the emulator does not start.
    pub fn start(valkey_port: u16) -> Result<Self> {
        // Somebody else may take a free port before the emulator does.
        let mut tries = 1..=START_TRIES;
        loop {
            match Self::start_on(free_port()?, valkey_port) {
                Err(_) if tries.next().is_some() => {}
                started => return started,
            }
        }
    }

    fn start_on(port: u16, valkey_port: u16) -> Result<Self> {
        let home = home(port)?;
        let log = home.join("emulator.log");
        let mut process = Kept::start("ministack", &command(port, valkey_port, &home)?, &log)?;
        // That the port accepts connections says nothing: the server there may be somebody else's.
        let ready = || accepts(port) && is_ready(&log);
        process.wait_until(START_TIMEOUT, ready)?;
        Ok(Self { port, home, process: Some(process) })
    }

    /// The address of every AWS service.
    pub fn endpoint(&self) -> String {
        loopback(self.port)
    }

    /// Where its files are, until it ends.
    pub fn home(&self) -> &Path {
        &self.home
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.process.take());
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

/// Whether an emulator has its port, by its log.
pub(crate) fn is_ready(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains(READY))
}

/// What a request to a service has in its `Authorization` header. The emulator checks no signature, but finds the service
/// in it.
pub fn authorization(service: &str) -> String {
    let scope = format!("Credential={ACCESS_KEY}/20260101/{REGION}/{service}/aws4_request");
    format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none")
}

/// A folder for the files of an emulator on `port`, empty.
///
/// # Errors
/// If it cannot be made.
pub fn home(port: u16) -> Result<PathBuf> {
    remove_abandoned();
    let home = home_of(port);
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(home.join("tmp")).with_context(|| format!("cannot make {}", home.display()))?;
    Ok(home)
}

/// Where the files of an emulator on `port` are.
pub fn home_of(port: u16) -> PathBuf {
    paths::state().join(format!("{HOME}{port}"))
}

/// Removes what emulators left behind whose program was killed: each has copies of all functions.
fn remove_abandoned() {
    let Ok(folders) = std::fs::read_dir(paths::state()) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let port = name.to_str().and_then(|name| name.strip_prefix(HOME)).and_then(|port| port.parse().ok());
        let age = folder.metadata().and_then(|data| data.modified()).ok().and_then(|made| made.elapsed().ok());
        // One that is just starting does not serve yet.
        if port.is_some_and(|port| !accepts(port)) && age.is_some_and(|age| age > START_TIMEOUT) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// The command that starts an emulator.
///
/// # Errors
/// If the local cloud is not installed.
pub fn command(port: u16, valkey_port: u16, home: &Path) -> Result<Command> {
    let program = paths::venv_program(SERVER);
    anyhow::ensure!(program.exists(), "no {}; run `make setup`", program.display());
    load::allow_open_files(MOST_FILES);
    // Functions inherit the emulator's environment, so it must not be the user's: no profile, no proxy, no endpoint.
    let mut command = Command::new("env");
    command.arg("-i");
    let mut set = |name: &str, value: &dyn std::fmt::Display| {
        command.arg(format!("{name}={value}"));
    };
    set("PATH", &std::env::var("PATH").unwrap_or_default());
    set("HOME", &home.display());
    set("TMPDIR", &home.join("tmp").display());
    set("S3_DATA_DIR", &home.join("s3").display());
    set("STATE_DIR", &home.join("state").display());
    set("BIND_HOST", &"127.0.0.1");
    set("MINISTACK_HOST", &"127.0.0.1");
    set("GATEWAY_PORT", &port);
    set("AWS_ENDPOINT_URL", &loopback(port));
    set("AWS_ACCESS_KEY_ID", &ACCESS_KEY);
    set("AWS_SECRET_ACCESS_KEY", &ACCESS_KEY);
    set("AWS_REGION", &REGION);
    set("REDIS_HOST", &"127.0.0.1");
    set("REDIS_PORT", &valkey_port);
    // Ports that nothing here uses and that two emulators would fight for.
    set("IOT_MTLS_ENABLED", &0);
    set("SFTP_ENABLED", &0);
    set("PYTHONUNBUFFERED", &1);
    command.arg(program).arg(APPLICATION).args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["--loop", "uvloop", "--http", "httptools", "--ws", "wsproto"]);
    // Clients keep connections for longer than the server's five seconds, and would meet one that is just closing.
    command.args(["--no-access-log", "--timeout-keep-alive", "75", "--backlog", "4096"]);
    // The emulator has a Date of its own, and AWS names no server.
    command.args(["--no-server-header", "--no-date-header"]);
    Ok(command)
}
