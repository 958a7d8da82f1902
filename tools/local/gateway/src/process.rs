//! Processes that end with the one that started them, however it ends.

use std::fs::OpenOptions;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tokio::net::TcpSocket;

const POLL: Duration = Duration::from_millis(20);

/// Runs a command in its own process group and ends the group when standard input closes: when the holder of the other
/// end of the pipe closes it or dies, even by `kill -9`.
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

const KILLED_TIMEOUT: Duration = Duration::from_secs(10);

/// A process that ends with this one. Dropping it ends it and everything that it started.
pub struct Kept {
    child: Child,
    /// Whether the keeper has ended, and everything in its group.
    ended: bool,
    name: String,
    log: PathBuf,
}

impl Kept {
    /// Starts `command` with its output in the file `log`, which is truncated. Fails without the file or `sh`.
    pub fn start(name: &str, command: &Command, log: &Path) -> Result<Self> {
        let _ = std::fs::remove_file(log);
        Self::start_behind(name, command, log)
    }

    /// The same, but appends to the file.
    pub(crate) fn start_behind(name: &str, command: &Command, log: &Path) -> Result<Self> {
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, name]).arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => keeper.env(key, value),
                None => keeper.env_remove(key),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            keeper.current_dir(folder);
        }
        let child = spawn(&mut keeper, name, log)?;
        Ok(Self { child, ended: false, name: name.to_owned(), log: log.to_owned() })
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(killpg(group(&self.child), signal)?)
    }

    pub fn group(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` returns true. Fails if the process ends first or `timeout` passes; with the end of its log.
    pub fn wait_until(&mut self, timeout: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let deadline = Instant::now() + timeout;
        while !ready() {
            let ended = self.has_ended()?;
            if ended || Instant::now() >= deadline {
                let what = if ended { "ended" } else { "is not ready" };
                bail!("{} {what}; the end of {}:\n{}", self.name, self.log.display(), tail(&self.log));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Whether it has ended by itself. If its keeper was killed, this ends it. Fails if the kernel does not tell.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.ended || self.wait(WaitPidFlag::WNOHANG)?)
    }

    pub fn kill(&mut self) {
        if !self.ended {
            let _ = killpg(group(&self.child), Signal::SIGKILL);
            let _ = self.wait(WaitPidFlag::empty());
        }
    }

    /// Checks or waits whether the keeper has ended, and then ends what is left of its group: all of it, if the keeper
    /// was killed.
    fn wait(&mut self, how: WaitPidFlag) -> Result<bool> {
        let group = group(&self.child);
        // The keeper stays a zombie until its group is killed: until then nobody else can get the group's number.
        let ended = loop {
            match waitid(Id::Pid(group), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | how) {
                Err(Errno::EINTR) => {}
                status => break !matches!(status?, WaitStatus::StillAlive),
            }
        };
        if !ended {
            return Ok(false);
        }
        let _ = killpg(group, Signal::SIGKILL);
        let deadline = Instant::now() + KILLED_TIMEOUT;
        while members(self.group()).next().is_some() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        self.child.wait()?;
        self.ended = true;
        Ok(true)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if !self.ended {
            let _ = self.wait(WaitPidFlag::empty());
        }
    }
}

/// Resident memory of the largest process of a group, in kB, if it has any.
pub fn resident_kb(group: u32) -> Option<u64> {
    members(group).filter_map(|process| resident_of(&process)).max()
}

/// Resident memory of the process with this folder in `/proc`, in kB. None if it has ended: it may while it is read.
pub fn resident_of(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse().ok())
}

pub fn members(group: u32) -> impl Iterator<Item = PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let group = group.to_string();
    processes.filter(move |process| stat(process).is_some_and(|fields| fields.get(2) == Some(&group)))
}

/// Reads the `stat` of a process: its fields from the third one, the state (proc_pid_stat(5)). `None` if it has ended;
/// a zombie only waits for its parent.
fn stat(process: &Path) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // "PID (NAME) STATE PARENT GROUP …", where the name may contain anything.
    let fields: Vec<String> = stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect();
    (!matches!(fields.first()?.as_str(), "Z" | "X")).then_some(fields)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was no longer running.
    Before,
    /// By itself, when it was asked to.
    Asked,
    /// It did not within its time, and was killed.
    Killed,
}

/// One run of a process: its id, and what distinguishes it from a later process with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRun {
    id: i32,
    /// Clock ticks from the boot of the machine to the start of the process.
    started: u64,
    boot: String,
}

impl ProcessRun {
    pub fn of(id: i32) -> Option<Self> {
        let fields = stat(&Path::new("/proc").join(id.to_string()))?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        // The start is field 22.
        Some(Self { id, started: fields.get(19)?.parse().ok()?, boot })
    }

    pub fn is_running(&self) -> bool {
        Self::of(self.id).as_ref() == Some(self)
    }

    pub async fn ended(&self) {
        while self.is_running() {
            tokio::time::sleep(POLL).await;
        }
    }

    /// Ends it and waits until it is gone; after `timeout` it is killed. Never signals another process that has its id
    /// by now. Fails if it cannot be signalled.
    pub fn end(&self, timeout: Duration) -> Result<Ended> {
        if !self.is_running() {
            return Ok(Ended::Before);
        }
        let send = |signal| match kill(Pid::from_raw(self.id), signal) {
            Err(error) if error != Errno::ESRCH => Err(error),
            _ => Ok(()),
        };
        send(Signal::SIGTERM)?;
        let deadline = Instant::now() + timeout;
        let mut how = Ended::Asked;
        while self.is_running() {
            if Instant::now() >= deadline {
                send(Signal::SIGKILL)?;
                how = Ended::Killed;
            }
            std::thread::sleep(POLL);
        }
        Ok(how)
    }
}

/// Starts a process that outlives this one, in its own group. Returns it with its standard input. Fails if the file
/// cannot be made or the program does not start.
pub fn start_detached(name: &'static str, command: &mut Command, log: &Path) -> Result<(ProcessRun, ChildStdin)> {
    let _ = std::fs::remove_file(log);
    let mut child = spawn(command, name, log)?;
    let run = ProcessRun::of(group(&child).as_raw());
    let input = child.stdin.take().context("its standard input is a pipe")?;
    Ok((run.with_context(|| format!("{name} ended at once:\n{}", tail(log)))?, input))
}

fn spawn(command: &mut Command, name: &str, log: &Path) -> Result<Child> {
    if let Some(dir) = log.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let out = OpenOptions::new().create(true).append(true).open(log);
    let out = out.with_context(|| format!("cannot write {}", log.display()))?;
    let err = out.try_clone()?;
    // Its own group: Ctrl-C at the terminal only reaches this program, which then ends the others in order.
    command.stdin(Stdio::piped()).stdout(out).stderr(err).process_group(0);
    command.spawn().with_context(|| format!("cannot start {name}: {}", command.get_program().display()))
}

fn group(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

pub fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// A port of the loopback that no other program is given while this exists. It is bound, but does not listen: the kernel
/// hands it out to nobody else, neither to a bind to port 0 nor as the local end of a connection, while a server that
/// sets `SO_REUSEADDR`, as those here do, can listen on it each time that it starts (`socket(7)`).
#[derive(Debug)]
pub struct Port {
    number: u16,
    /// Dropping it frees the port.
    _bound: TcpSocket,
}

impl Port {
    pub fn free() -> Result<Self> {
        Self::reserve(0)
    }

    /// This port, also if whoever named it has it reserved. Fails if a server listens on it.
    pub fn reserve(number: u16) -> Result<Self> {
        let bound = TcpSocket::new_v4()?;
        bound.set_reuseaddr(true)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number));
        bound.bind(address).with_context(|| format!("cannot have a port: {address}"))?;
        Ok(Self { number: bound.local_addr()?.port(), _bound: bound })
    }

    pub const fn number(&self) -> u16 {
        self.number
    }
}

pub fn loopback(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

pub fn accepts(port: u16) -> bool {
    std::net::TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), Duration::from_millis(200)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> (Child, ProcessRun) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let run = ProcessRun::of(group(&child).as_raw()).unwrap();
        (child, run)
    }

    #[test]
    fn a_process_that_runs_is_ended() {
        let (mut child, run) = sleeper();
        assert!(run.is_running());
        assert_eq!(run.end(Duration::from_secs(10)).unwrap(), Ended::Asked);
        assert!(!run.is_running(), "a zombie has ended");
        child.wait().unwrap();
        assert_eq!(run.end(Duration::from_secs(10)).unwrap(), Ended::Before);
    }

    /// A kept process whose keeper is killed, and only the keeper.
    fn orphaned(name: &str) -> (Kept, ProcessRun) {
        let log = crate::paths::state().join(format!("orphan-{name}-{}.log", std::process::id()));
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$; exec sleep 600"]);
        let mut kept = Kept::start(name, &shell, &log).unwrap();
        let id = || std::fs::read_to_string(&log).ok()?.trim().parse().ok();
        kept.wait_until(Duration::from_secs(60), || id().is_some()).unwrap();
        let run = ProcessRun::of(id().unwrap()).unwrap();
        std::fs::remove_file(&log).unwrap();
        kill(Pid::from_raw(i32::try_from(kept.group()).unwrap()), Signal::SIGKILL).unwrap();
        (kept, run)
    }

    #[test]
    fn what_lost_its_keeper_is_ended_by_whoever_drops_it_or_notices() {
        let (kept, run) = orphaned("dropped");
        drop(kept);
        assert!(!run.is_running());
        let (mut kept, run) = orphaned("noticed");
        while !kept.has_ended().unwrap() {
            std::thread::sleep(POLL);
        }
        assert!(!run.is_running());
    }

    #[test]
    fn a_port_is_its_servers_alone_and_stays_so() {
        let port = Port::free().unwrap();
        let known = Port::reserve(port.number()).unwrap();
        for _ in 0..2 {
            let server = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port.number())).unwrap();
            std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap();
            assert!(Port::reserve(port.number()).is_err(), "a server listens");
        }
        // The kernel hands it out to nobody else.
        for _ in 0..40 {
            let others: Vec<_> = (0..500).map(|_| Port::free().unwrap().number()).collect();
            assert!(!others.contains(&port.number()));
        }
        drop(known);
    }

    #[test]
    fn another_process_with_the_same_id_is_left_alone() {
        let (mut child, run) = sleeper();
        for other in [ProcessRun { started: run.started + 1, ..run.clone() }, ProcessRun { boot: String::new(), ..run }]
        {
            assert_eq!(other.end(Duration::from_secs(10)).unwrap(), Ended::Before);
        }
        assert!(child.try_wait().unwrap().is_none(), "it got a signal");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
