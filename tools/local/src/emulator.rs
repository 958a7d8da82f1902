//! The AWS emulator.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::function::STACK_BYTES;
pub use crate::function::{ACCESS_KEY, REGION};
use crate::paths;
use crate::process::{Kept, Port, ProcessRun, accepts, loopback};

const START_TIMEOUT: Duration = Duration::from_secs(120);

/// The line that an emulator logs once it has its port.
const READY: &str = "Uvicorn running on http://";
const START: &str = include_str!("emulator.py");

/// Open files: connections of a crowd of functions, and its other files. It inherits this program's limit.
const MOST_FILES: u64 = 16_384;

/// The folder's name, before the port.
const HOME: &str = "emulator-";
/// The file in it that names the process it belongs to.
const OWNER: &str = "owner.json";

/// An AWS emulator that ends with this process, together with its functions.
pub struct Emulator {
    port: Port,
    // Ends before its files are removed.
    process: Kept,
    home: Home,
}

/// A folder for an emulator's files: hundreds of megabytes, since it copies all functions. Dropping it removes it.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn make(port: u16) -> Result<Self> {
        remove_abandoned(&paths::state());
        let home = Self(home_of(port));
        let _ = std::fs::remove_dir_all(&home.0);
        let owner = ProcessRun::of(i32::try_from(std::process::id())?).context("this process runs")?;
        let made = std::fs::create_dir_all(home.0.join("tmp"))
            .and_then(|()| std::fs::write(home.0.join(OWNER), serde_json::to_string(&owner)?));
        made.with_context(|| format!("cannot make {}", home.0.display()))?;
        Ok(home)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Emulator {
    /// Starts an emulator on a free port of the loopback. Its ElastiCache is the Valkey on `valkey_port`.
    pub fn start(valkey_port: u16) -> Result<Self> {
        let port = Port::free()?;
        let home = Home::make(port.number())?;
        let log = home.path().join("emulator.log");
        let mut process = Kept::start("ministack", &command(port.number(), valkey_port, home.path())?, &log)?;
        process.wait_until(START_TIMEOUT, || is_ready(&log))?;
        Ok(Self { port, process, home })
    }

    pub fn endpoint(&self) -> String {
        loopback(self.port.number())
    }

    /// The group of its processes, which those of the functions that it runs are in.
    pub(crate) fn group(&self) -> u32 {
        self.process.group()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

pub(crate) fn is_ready(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains(READY))
}

/// The `Authorization` header of a request: the emulator reads the service from it, and checks no signature.
pub fn authorization(service: &str) -> String {
    let scope = format!("Credential={ACCESS_KEY}/20260101/{REGION}/{service}/aws4_request");
    format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none")
}

pub(crate) fn home_of(port: u16) -> PathBuf {
    paths::state().join(format!("{HOME}{port}"))
}

/// Removes folders in `state` that emulators left whose program was killed.
fn remove_abandoned(state: &Path) {
    let Ok(folders) = std::fs::read_dir(state) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let port = name.to_str().and_then(|name| name.strip_prefix(HOME)).and_then(|port| port.parse().ok());
        if port.is_some_and(|port| !accepts(port)) && is_abandoned(&folder.path()) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

fn is_abandoned(home: &Path) -> bool {
    if let Some(owner) = std::fs::read(home.join(OWNER)).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
        return !ProcessRun::is_running(&owner);
    }
    // Just being made, or made again by a process that briefly outlived it.
    let age = home.metadata().and_then(|data| data.modified()).ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > START_TIMEOUT)
}

pub fn command(port: u16, valkey_port: u16, home: &Path) -> Result<Command> {
    // The emulator runs on any ASGI server. This one is more than twice as fast as its own, hypercorn.
    let program = paths::venv_program("uvicorn");
    anyhow::ensure!(program.exists(), "no {}; run `./flash install`", program.display());
    let python = paths::venv_program("python3");
    command_line::allow_open_files(MOST_FILES);
    // Functions inherit the emulator's environment, so it must not be the user's: no profile, no proxy, no endpoint.
    let mut command = Command::new("env");
    command.arg("-i");
    let mut set = |name: &str, value: &dyn std::fmt::Display| {
        command.arg(format!("{name}={value}"));
    };
    set("RUST_MIN_STACK", &STACK_BYTES);
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
    // Unused ports that two emulators would fight for.
    set("IOT_MTLS_ENABLED", &0);
    set("SFTP_ENABLED", &0);
    set("PYTHONUNBUFFERED", &1);
    command.arg(python).args(["-c", START, "ministack.app:app", "--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["--loop", "uvloop", "--http", "httptools", "--ws", "wsproto"]);
    // Clients keep connections for longer than the default of five seconds, and would use one that is closing.
    command.args(["--no-access-log", "--timeout-keep-alive", "75", "--backlog", "4096"]);
    // The emulator sends its own Date, AWS names no server, and no proxy stands before it whose word counts.
    command.args(["--no-server-header", "--no-date-header", "--no-proxy-headers"]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_run_left_is_removed_at_the_next_start() {
        let state = paths::state().join(format!("abandoned-{}", std::process::id()));
        let this = serde_json::to_value(ProcessRun::of(i32::try_from(std::process::id()).unwrap())).unwrap();
        let mut dead = this.clone();
        dead["started"] = 1.into();
        // Nobody listens on the lowest ports.
        for (port, owner) in [(1, Some(this)), (2, Some(dead)), (3, None)] {
            let home = state.join(format!("{HOME}{port}"));
            std::fs::create_dir_all(&home).unwrap();
            if let Some(owner) = owner {
                std::fs::write(home.join(OWNER), owner.to_string()).unwrap();
            }
        }
        remove_abandoned(&state);
        let is_there = [1, 2, 3].map(|port| state.join(format!("{HOME}{port}")).exists());
        std::fs::remove_dir_all(state).unwrap();
        assert_eq!(is_there, [true, false, true]);
    }
}
