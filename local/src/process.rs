//! Processes that end with the one that started them, however that one ends.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// How long a process may take to end before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a condition is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Runs a command in its own process group and ends the group when standard input ends: that is when whoever holds the
/// other end of the pipe lets go of it or dies, by `kill -9` too.
const KEEPER: &str = r#"
exec 3<&0
{ trap : TERM; "$@" </dev/null 3<&-; kill -TERM $$ 2>/dev/null; } &
work=$!
read -r _ <&3
trap : TERM
kill -TERM 0
{ trap : TERM; sleep 10; kill -KILL 0; } &
wait $work; wait $work
kill -KILL 0
"#;

/// A process that ends with this one. Dropping it ends it and everything that it started.
pub struct Kept {
    child: Child,
    name: &'static str,
    log: PathBuf,
}

impl Kept {
    /// Starts `command`; what it prints goes to the file `log`.
    ///
    /// # Errors
    /// If the file cannot be made or there is no `sh`.
    pub fn start(name: &'static str, command: &Command, log: &Path) -> Result<Self> {
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, name]).arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => keeper.env(key, value),
                None => keeper.env_remove(key),
            };
        }
        let child = spawn(&mut keeper, name, log, Stdio::piped())?;
        Ok(Self { child, name, log: log.to_owned() })
    }

    /// Sends a signal to the process and everything that it started.
    ///
    /// # Errors
    /// If there is none any more.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(killpg(group(&self.child), signal)?)
    }

    /// Resident memory of the largest of its processes, in kB.
    ///
    /// # Errors
    /// If the kernel does not tell, or there is none.
    pub fn resident_kb(&self) -> Result<u64> {
        let mut largest = None;
        for entry in std::fs::read_dir("/proc")?.flatten() {
            // A process may end while it is read.
            let read = |file: &str| std::fs::read_to_string(entry.path().join(file)).unwrap_or_default();
            // "PID (NAME) STATE PARENT GROUP …", where the name may hold anything.
            let stat = read("stat");
            let group = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(2)?.parse().ok());
            if group != Some(self.child.id()) {
                continue;
            }
            let status = read("status");
            let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next());
            largest = largest.max(resident.and_then(|kb| kb.parse().ok()));
        }
        largest.with_context(|| format!("{} does not run", self.name))
    }

    /// Waits until `ready` says so.
    ///
    /// # Errors
    /// If the process ends first or `timeout` passes; with the end of its log.
    pub fn wait_until(&mut self, timeout: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let deadline = Instant::now() + timeout;
        while !ready() {
            let ended = self.child.try_wait()?.is_some();
            if ended || Instant::now() >= deadline {
                let what = if ended { "ended" } else { "is not ready" };
                bail!("{} {what}; the end of {}:\n{}", self.name, self.log.display(), tail(&self.log));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Kills it at once, as `kill -9` does.
    pub fn kill(&mut self) {
        let _ = killpg(group(&self.child), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Starts a process that goes on when this one ends, in a group of its own. Returns the group's id.
///
/// # Errors
/// If the file cannot be made or the program does not start.
pub fn start_detached(name: &'static str, command: &mut Command, log: &Path) -> Result<i32> {
    let child = spawn(command, name, log, Stdio::null())?;
    Ok(group(&child).as_raw())
}

/// Ends the process group `group` and waits until it is gone.
///
/// # Errors
/// If it cannot be signalled.
pub fn end_group(group: i32) -> Result<()> {
    let group = Pid::from_raw(group);
    let gone = |signal: Option<Signal>| killpg(group, signal) == Err(nix::errno::Errno::ESRCH);
    if gone(Some(Signal::SIGTERM)) {
        return Ok(());
    }
    let deadline = Instant::now() + END_TIMEOUT;
    while !gone(None) {
        // Of this program's own children nothing is gone before it was waited for.
        let _ = waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG));
        if Instant::now() >= deadline {
            let _ = killpg(group, Signal::SIGKILL);
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn spawn(command: &mut Command, name: &str, log: &Path, stdin: Stdio) -> Result<Child> {
    if let Some(dir) = log.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let err = out.try_clone()?;
    // A group of its own: Ctrl-C at the terminal reaches this program alone, which then ends the others in order.
    command.stdin(stdin).stdout(out).stderr(err).process_group(0);
    command.spawn().with_context(|| format!("cannot start {name}: {}", command.get_program().display()))
}

fn group(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// A port on the loopback that nobody uses now.
///
/// # Errors
/// If there is none.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on the loopback")?.local_addr()?.port())
}

/// Whether something accepts connections on a port of the loopback.
pub fn accepts(port: u16) -> bool {
    std::net::TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), Duration::from_millis(200)).is_ok()
}
