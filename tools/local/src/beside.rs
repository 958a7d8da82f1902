//! Programs beside a system: one that lives as long as the program runs, or that of `up`.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::build::cargo;
use crate::deployment::Deployment;
use crate::paths;
use crate::process::accepts;
use crate::running::running;
use crate::setup::start_while;
use crate::up::environment;

/// How often new sales are loaded. The schedule's minute is too long for a program that creates many.
const LOAD_EVERY: Duration = Duration::from_secs(1);
/// How long that may take on a busy machine, in milliseconds.
const LOADS_WITHIN_MS: &str = "15000";
/// Where `cargo lambda invoke` looks for functions, and how often that port is checked.
const PORT: u16 = 9000;
const POLL: Duration = Duration::from_millis(50);

/// The process group of a program. Dropping it ends what is left of the group.
struct Group(Pid);

impl Group {
    fn of(child: &Child) -> Result<Self> {
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

async fn load_sales(deployment: &Deployment) -> Infallible {
    loop {
        if let Err(error) = deployment.invoke(&deployment.warmup_function).await {
            eprintln!("warmup: {error:#}");
        }
        tokio::time::sleep(LOAD_EVERY).await;
    }
}

/// Compiles a function with progress messages, and serves it with `cargo lambda watch` and the settings of the running
/// system. On its own, `cargo lambda watch` compiles at the first invocation, which then shows nothing for minutes.
pub async fn watch(function: &str) -> Result<()> {
    let (deployment, issuer) = running()?;
    let program = paths::venv_program("cargo-lambda");
    ensure!(program.exists(), "no {}; run `./flash install`", program.display());
    // `cargo lambda watch` would exit successfully.
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).is_err();
    ensure!(!taken, "port {PORT} is taken; stop the other `./flash watch` or whatever else uses it");
    eprintln!("Compiling {function} as `cargo lambda watch` does; the first time takes minutes");
    let mut build = Command::from(cargo());
    let built = build.args(["build", "--bin", function]).kill_on_drop(true).status().await;
    ensure!(built.context("cargo is needed and does not start")?.success(), "{function} does not compile");
    let mut serve = Command::new(program);
    // Otherwise it listens on every interface.
    serve.args(["lambda", "watch", "--ignore-changes", "--invoke-address", "127.0.0.1"]).current_dir(paths::root());
    serve.envs(environment(&deployment, issuer.url())).process_group(0);
    let mut child = serve.spawn().context("cargo lambda does not start")?;
    let _group = Group::of(&child)?;
    let ready = async {
        while !accepts(PORT) {
            tokio::time::sleep(POLL).await;
        }
        eprintln!("Ready for `cargo lambda invoke {function}`; Ctrl-C stops it");
        std::future::pending::<Infallible>().await
    };
    let status = tokio::select! {
        status = child.wait() => status?,
        never = ready => match never {},
    };
    bail!("cargo lambda ended: {status}")
}
