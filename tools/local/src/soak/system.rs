//! The system under test: a cloud with one or two gateways, and what a run does to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use parking_lot::Mutex;
use tokio::task::block_in_place;

use super::changed::{Changed, Scripts};
use super::program::Loss;
use crate::client::Client;
use crate::cloud::Cloud;
use crate::control::Control;
use crate::deployment::Deployment;
use crate::emulator::Emulator;
use crate::gateway::{Concurrency, Gateway};
use crate::identity::Issuer;
use crate::paths;
use crate::process::{members, resident_of};
use crate::stack::STACK;
use crate::valkey::Valkey;

/// How far back the writes go that a failover loses.
const LAST_WRITES: Duration = Duration::from_secs(2);
/// How long a disturbance excuses errors: processes restart, breakers close, Redis is filled within a minute.
const AFTERMATH: Duration = Duration::from_secs(75);
const CHANGED: &str = "reservation";

/// One gateway with the functions behind it, and its clients.
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) gateway: Gateway,
    /// For requests that are recorded.
    pub(super) load: load::Client,
    pub(super) api: Client,
}

pub(super) struct System {
    pub(super) deployment: Deployment,
    pub(super) issuer: Issuer,
    // Dropped in this order.
    sides: Mutex<Vec<Arc<Side>>>,
    pub(super) emulator: Emulator,
    valkey: tokio::sync::Mutex<Valkey>,
    disturbed_until: Mutex<Instant>,
}

impl Side {
    fn of(name: &'static str, gateway: Gateway) -> Result<Arc<Self>> {
        let url = gateway.url();
        Ok(Arc::new(Self { name, load: load::Client::new(url.parse()?), api: Client::new(&url)?, gateway }))
    }
}

impl System {
    pub(super) fn of(cloud: Cloud) -> Result<Self> {
        let Cloud { deployment, issuer, gateway, emulator, valkey } = cloud;
        Ok(Self {
            deployment,
            issuer,
            sides: Mutex::new(vec![Side::of("old", gateway)?]),
            emulator,
            valkey: tokio::sync::Mutex::new(valkey),
            disturbed_until: Mutex::new(Instant::now()),
        })
    }

    pub(super) fn sides(&self) -> Vec<Arc<Side>> {
        self.sides.lock().clone()
    }

    fn disturb(&self) {
        *self.disturbed_until.lock() = Instant::now() + AFTERMATH;
    }

    /// Whether the last disturbance is so long ago that everything should work.
    pub(super) fn is_calm(&self) -> bool {
        Instant::now() > *self.disturbed_until.lock()
    }

    /// Kills every process of a function, like `kill -9`. Returns how many there were.
    pub(super) fn kill(&self, function: &str) -> usize {
        self.disturb();
        let name = format!("{STACK}-{function}");
        let groups = self.sides().iter().flat_map(|side| side.gateway.process_groups(&name)).collect::<Vec<_>>();
        let pids = groups.into_iter().filter_map(|group| i32::try_from(group).ok()).map(Pid::from_raw);
        let behind_gateways = pids.filter(|group| killpg(*group, Signal::SIGKILL).is_ok()).count();
        let kills = |worker: &Worker| kill(Pid::from_raw(worker.id), Signal::SIGKILL).is_ok();
        let workers = workers(self.emulator.group());
        behind_gateways + workers.iter().filter(|worker| worker.function == name && kills(worker)).count()
    }

    pub(super) async fn fail_over(&self, losing: Loss, dies: impl FnOnce()) -> Result<()> {
        let mut valkey = self.valkey.lock().await;
        self.disturb();
        match losing {
            Loss::Everything => {}
            Loss::LastWrites => {
                self.redis(&redis::cmd("SAVE")).await?;
                tokio::time::sleep(LAST_WRITES).await;
            }
            Loss::Nothing => {
                self.redis(redis::cmd("CLIENT").arg("PAUSE").arg(60_000).arg("WRITE")).await?;
                self.redis(&redis::cmd("SAVE")).await?;
            }
        }
        dies();
        block_in_place(|| match losing {
            Loss::Everything => valkey.kill_and_restart(),
            _ => valkey.kill_and_restart_from_snapshot(),
        })?;
        self.disturb();
        Ok(())
    }

    /// Deploys a changed function, and serves it and all others on a second gateway.
    pub(super) async fn deploy_changed(&self) -> Result<Scripts> {
        self.disturb();
        let home = self.emulator.home().join("second");
        let built = paths::target().join("lambda").join(CHANGED).join("bootstrap");
        let beside: PathBuf = home.join("changed");
        let changed = tokio::task::spawn_blocking(move || Changed::of(&built, &beside)).await??;
        let endpoint = &self.deployment.endpoint;
        Control::new(endpoint).update_function(&format!("{STACK}-{CHANGED}"), &changed.archive).await?;
        let gateway = Gateway::start(endpoint, 0, &home, Concurrency::FAST).await.context("the second gateway")?;
        self.sides.lock().push(Side::of("new", gateway)?);
        self.disturb();
        Ok(changed.scripts)
    }

    /// Stops sending requests to the old side. It ends with the last visitor who came through it.
    pub(super) fn retire_old(&self) {
        let mut sides = self.sides.lock();
        let newest = sides.pop();
        sides.clear();
        sides.extend(newest);
    }

    async fn redis(&self, command: &redis::Cmd) -> Result<redis::Value> {
        let client = redis::Client::open(&*self.deployment.redis_url)?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        Ok(command.query_async(&mut connection).await?)
    }

    /// Whether Redis knows each of two scripts. If so, both sides have run theirs.
    pub(super) async fn knows(&self, scripts: &Scripts) -> Result<[bool; 2]> {
        let known = self.redis(redis::cmd("SCRIPT").arg("EXISTS").arg(&scripts.old).arg(&scripts.new)).await?;
        let known: Vec<bool> = redis::from_redis_value(known)?;
        known.try_into().ok().context("Redis answers for each script")
    }
}

/// A process of a function that the emulator runs. It starts them itself, so they are read from `/proc`.
pub(super) struct Worker {
    pub(super) function: String,
    pub(super) resident_kb: u64,
    id: i32,
}

pub(super) fn workers(group: u32) -> Vec<Worker> {
    let worker = |process: PathBuf| {
        let function = function_of(&process)?;
        let id = process.file_name()?.to_str()?.parse().ok()?;
        Some(Worker { function, resident_kb: resident_of(&process)?, id })
    };
    members(group).filter_map(worker).collect()
}

/// Resident memory of the emulator without its functions, in kB.
pub(super) fn emulator_kb(group: u32) -> Option<u64> {
    members(group).filter(|process| function_of(process).is_none()).filter_map(|process| resident_of(&process)).max()
}

fn function_of(process: &Path) -> Option<String> {
    let environment = std::fs::read(process.join("environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let name = variables.find_map(|variable| variable.strip_prefix(b"AWS_LAMBDA_FUNCTION_NAME="))?;
    String::from_utf8(name.to_vec()).ok()
}
