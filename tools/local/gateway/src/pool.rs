//! The processes of one function: started when there is work, and replaced when they die.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use axum::body::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::function::FunctionProcess;
use crate::process::resident_kb;
use crate::runtime_api::{Events, Fault, Made, Overdue, RuntimeApi};

/// How many open files an event needs at most: one for each function behind an API, and clients.
const FILES_PER_EVENT: u64 = 16;

#[derive(Debug, Clone, Copy)]
pub struct Concurrency {
    /// How many events a process handles concurrently. More than one is Lambda's concurrent mode.
    pub at_once: usize,
    /// The largest number of processes of a function.
    pub most: usize,
}

impl Concurrency {
    /// One process that handles many events concurrently, as on Lambda's managed instances: the fastest on two cores.
    /// It serves other requests while hundreds wait for the emulator's slow queue.
    pub const FAST: Self = Self { at_once: 512, most: 1 };
    /// Each process handles one event at a time, as is usual on Lambda.
    pub const CLASSIC: Self = Self { at_once: 1, most: 8 };

    /// Reduces the concurrency to what this number of open files allows: each event needs a connection here, for each
    /// of some functions, and as many more from the process to AWS.
    pub(crate) fn within(self, files: u64) -> Self {
        let at_once = usize::try_from(files / FILES_PER_EVENT).unwrap_or(usize::MAX).max(1);
        Self { at_once: self.at_once.min(at_once), ..self }
    }
}

const POLL: Duration = Duration::from_millis(25);
/// The pause before the next start, after a process died before it asked for an event. It doubles up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const MAX_WAITING: usize = 20_000;
/// How long a process may take until it asks for its first event (quotas of Lambda: 10 s to initialize).
const MAX_START: Duration = Duration::from_secs(10);
/// A longer log is truncated: a system may run for weeks.
const MAX_LOG_BYTES: u64 = 64 * 1024 * 1024;
const LOG_POLL: Duration = Duration::from_secs(1);
/// The largest event and answer in bytes (quotas for synchronous invocations).
pub(crate) const MAX_PAYLOAD_BYTES: usize = 6 * 1024 * 1024;

/// A deployed function, and how much of it may run.
#[derive(Debug, Clone)]
pub struct FunctionSpec {
    pub name: String,
    pub bootstrap: PathBuf,
    /// Its whole environment, except for the address of the Runtime API, the stack and what [`Concurrency::at_once`] sets.
    pub environment: Vec<(String, String)>,
    /// The time limit for an event. A process with one event at a time is then killed. A process with several continues
    /// with the others, as on managed instances ("Independent timeouts"), unless it has answered none of them
    /// meanwhile.
    pub timeout: Duration,
    pub concurrency: Concurrency,
    pub log: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Too many events are waiting, or the pool has ended.
    Full,
    Fault(Fault),
}

/// The processes of a function. Dropping it ends them.
pub struct Pool {
    events: Arc<Events>,
    wake: Arc<Notify>,
    /// Without what [`Self::counts`] adds.
    counts: Arc<Mutex<PoolCounts>>,
    /// Of the running processes.
    groups: Arc<Mutex<Vec<u32>>>,
    keeper: JoinHandle<()>,
    ended: AtomicBool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PoolCounts {
    pub cold_starts: u64,
    pub deaths: u64,
    pub timeouts: u64,
    pub running: usize,
    pub resident_kb: u64,
}

impl Pool {
    /// Starts no process before there is an event for it, like Lambda.
    pub fn new(spec: FunctionSpec) -> Self {
        let (events, wake) = (Events::new(), Arc::new(Notify::new()));
        let (counts, groups) = (Arc::<Mutex<PoolCounts>>::default(), Arc::<Mutex<Vec<u32>>>::default());
        let keeper = Keeper {
            spec,
            events: Arc::clone(&events),
            counts: Arc::clone(&counts),
            groups: Arc::clone(&groups),
            environments: Vec::new(),
            pause: SHORTEST_PAUSE,
            not_before: Instant::now(),
            refused: None,
        };
        let keeper = tokio::spawn(keeper.run(Arc::clone(&wake)));
        Self { events, wake, counts, groups, keeper, ended: AtomicBool::new(false) }
    }

    pub async fn invoke(&self, event: impl Into<Bytes>) -> Result<Bytes, Refused> {
        if self.ended.load(Ordering::Acquire) || self.events.waiting() >= MAX_WAITING {
            return Err(Refused::Full);
        }
        let made = self.events.put(event.into());
        if self.events.outnumber_processes() {
            self.wake.notify_one();
        }
        let made: Made = made.await.unwrap_or(Err(Fault::Died));
        made.map_err(Refused::Fault)
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.keeper.abort();
    }

    pub fn process_groups(&self) -> Vec<u32> {
        self.groups.lock().clone()
    }

    pub fn counts(&self) -> PoolCounts {
        let groups = self.process_groups();
        let resident_kb = groups.iter().filter_map(|group| resident_kb(*group)).sum();
        PoolCounts { running: groups.len(), resident_kb, ..*self.counts.lock() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// A process, and the Runtime API that only it uses.
struct Environment {
    process: FunctionProcess,
    api: RuntimeApi,
    started: Instant,
}

struct Keeper {
    spec: FunctionSpec,
    events: Arc<Events>,
    counts: Arc<Mutex<PoolCounts>>,
    groups: Arc<Mutex<Vec<u32>>>,
    environments: Vec<Environment>,
    pause: Duration,
    not_before: Instant,
    /// Why no process could be started since the last successful start.
    refused: Option<String>,
}

impl Keeper {
    async fn run(mut self, wake: Arc<Notify>) {
        let (mut look, mut log_look) = (tokio::time::interval(POLL), tokio::time::interval(LOG_POLL));
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        log_look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = look.tick() => {}
                _ = log_look.tick() => self.bound_log(),
                () = wake.notified() => {}
            }
            self.bury();
            if let Err(error) = self.grow().await {
                self.log_once(&error);
                if self.environments.is_empty() {
                    // Nobody would ever handle the waiting events. The next event tries again.
                    self.events.give_up();
                } else {
                    // The running ones take what waits, and files or processes may become free soon.
                    self.wait_longer();
                }
            }
            self.count();
        }
    }

    /// Gives up on events that take too long or whose process is gone, and ends processes that hang.
    fn bury(&mut self) {
        let mut at = 0;
        while at < self.environments.len() {
            let Environment { process, api, started } = &mut self.environments[at];
            let Overdue { count, hangs } = api.give_up_overdue();
            self.counts.lock().timeouts += count;
            let hangs = hangs
                || (count > 0 && self.spec.concurrency.at_once == 1)
                || (!api.was_asked() && started.elapsed() > MAX_START);
            if !hangs && !process.has_ended().unwrap_or(true) {
                at += 1;
                continue;
            }
            let Environment { process, api, .. } = self.environments.swap_remove(at);
            self.counts.lock().deaths += 1;
            api.close();
            // First the process, so that it cannot answer an event that is given up.
            drop(process);
            api.give_up();
            if api.was_asked() {
                self.pause = SHORTEST_PAUSE;
            } else {
                // Callers of a function that does not start get an error at once, not after half a minute.
                self.events.give_up();
                self.wait_longer();
            }
        }
    }

    /// Each event tries to start a process, so the same error may occur a thousand times a second.
    fn log_once(&mut self, error: &anyhow::Error) {
        let reason = format!("{error:#}");
        if self.refused.as_ref() != Some(&reason) {
            eprintln!("{}: no process can be started: {reason}", self.spec.name);
            self.refused = Some(reason);
        }
    }

    fn wait_longer(&mut self) {
        self.not_before = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    async fn grow(&mut self) -> Result<()> {
        let starting = self.environments.iter().any(|environment| !environment.api.was_asked());
        let may = self.environments.len() < self.spec.concurrency.most && Instant::now() >= self.not_before;
        if starting || !may || !self.events.outnumber_processes() {
            return Ok(());
        }
        let FunctionSpec { name, bootstrap, environment, timeout, concurrency, log } = &self.spec;
        let api = RuntimeApi::of(Arc::clone(&self.events), *timeout).await?;
        let mut environment = environment.clone();
        if concurrency.at_once > 1 {
            environment.push(("AWS_LAMBDA_MAX_CONCURRENCY".to_owned(), concurrency.at_once.to_string()));
        }
        let process = FunctionProcess::start_with(name, bootstrap, api.address(), &environment, log)?;
        self.refused = None;
        self.counts.lock().cold_starts += 1;
        self.environments.push(Environment { process, api, started: Instant::now() });
        Ok(())
    }

    fn bound_log(&self) {
        if std::fs::metadata(&self.spec.log).is_ok_and(|log| log.len() > MAX_LOG_BYTES)
            && let Err(error) =
                std::fs::OpenOptions::new().write(true).open(&self.spec.log).and_then(|log| log.set_len(0))
        {
            eprintln!("{}: its log cannot be shortened: {error}", self.spec.name);
        }
    }

    fn count(&self) {
        *self.groups.lock() = self.environments.iter().map(|environment| environment.process.group()).collect();
    }
}
