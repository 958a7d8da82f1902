//! A function that runs from its sources, behind `cargo lambda invoke`.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use crate::beside::Group;
use crate::build::cargo;
use crate::paths;
use crate::process::accepts;
use crate::up::{environment, running};

/// Where `cargo lambda invoke` looks for functions.
const PORT: u16 = 9000;
/// How often the port is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Compiles a function, saying so, and serves it by `cargo lambda watch` with the settings of the running system. By itself that
/// compiles at the first invocation, while whoever invokes sees nothing for minutes.
///
/// # Errors
/// If nothing is running, the port is taken, the function does not compile, or `cargo lambda` is not installed or ends.
pub async fn watch(function: &str) -> Result<()> {
    let (deployment, issuer) = running()?;
    let program = paths::venv_program("cargo-lambda");
    ensure!(program.exists(), "no {}; run `make setup`", program.display());
    // `cargo lambda watch` would end as if all were well.
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).is_err();
    ensure!(!taken, "port {PORT} is taken; end the other `make watch`, or whatever else has it");
    eprintln!("Compiling {function} as `cargo lambda watch` does; the first time takes minutes");
    let mut build = Command::from(cargo());
    let built = build.args(["build", "--bin", function]).kill_on_drop(true).status().await;
    ensure!(built.context("cargo is needed and does not start")?.success(), "{function} does not compile");
    let mut serve = Command::new(program);
    serve.args(["lambda", "watch", "--ignore-changes"]).current_dir(paths::root());
    serve.envs(environment(&deployment, issuer.url())).process_group(0);
    let mut child = serve.spawn().context("cargo lambda does not start")?;
    let _group = Group::of(&child)?;
    let ready = async {
        while !accepts(PORT) {
            tokio::time::sleep(LOOK).await;
        }
        eprintln!("Ready for `cargo lambda invoke {function}`; Ctrl-C ends this");
        std::future::pending::<Infallible>().await
    };
    let status = tokio::select! {
        status = child.wait() => status?,
        never = ready => match never {},
    };
    bail!("cargo lambda ended: {status}")
}
