//! Runs a function from its sources, for `cargo lambda invoke`.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use crate::beside::Group;
use crate::build::cargo;
use crate::paths;
use crate::process::accepts;
use crate::running::running;
use crate::up::environment;

/// Where `cargo lambda invoke` looks for functions.
const PORT: u16 = 9000;
/// How often the port is checked.
const POLL: Duration = Duration::from_millis(50);

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
