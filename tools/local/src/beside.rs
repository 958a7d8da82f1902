//! A system that lives as long as a program runs.

use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::deployment::Deployment;
use crate::setup::start_while;
use crate::up::environment;

/// How often new sales are loaded. The schedule's minute is too long for a program that creates many.
const LOAD_EVERY: Duration = Duration::from_secs(1);
/// How long that may take on a busy machine, in milliseconds.
const LOADS_WITHIN_MS: &str = "15000";

/// The process group of a program. Dropping it ends what is left of the group.
pub(crate) struct Group(Pid);

impl Group {
    pub(crate) fn of(child: &Child) -> Result<Self> {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).context("it ended at once")?;
        Ok(Self(Pid::from_raw(id)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Fails if the program has ended by itself.
        let _ = killpg(self.0, Signal::SIGTERM);
    }
}

/// Starts a system on free ports, runs a program with `SHOP_URL` and everything in `up.env` in its environment, and
/// ends the system. Returns the program's exit status.
pub async fn run_beside(program: &[String]) -> Result<ExitCode> {
    let [name, arguments @ ..] = program else { bail!("which program?") };
    let ((), cloud, web) = start_while(false, |_| async { Ok(()) }).await?;

    let mut command = Command::new(name);
    command
        .args(arguments)
        // Includes what clients are not told, such as where Redis is, which has the answers to pictures.
        .envs(environment(&cloud.deployment, cloud.issuer.url()))
        .env("SHOP_URL", web.url())
        .env("LOADS_WITHIN_MS", LOADS_WITHIN_MS)
        .stdin(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
    let _group = Group::of(&child)?;
    let status = tokio::select! {
        status = child.wait() => status?,
        never = load_sales(&cloud.deployment) => match never {},
    };
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn load_sales(deployment: &Deployment) -> std::convert::Infallible {
    loop {
        if let Err(error) = deployment.invoke(&deployment.warmup_function).await {
            eprintln!("warmup: {error:#}");
        }
        tokio::time::sleep(LOAD_EVERY).await;
    }
}
