//! Installing, building and starting.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::build::{build_functions, build_pages, run};
use crate::cloud::{Cloud, Ground};
use crate::identity::Issuer;
use crate::paths::{self, usable_state};
use crate::stages::Stage;
use crate::synthesis;
use crate::web::WebServer;

/// Installs the local cloud, and builds the pages and the functions, unless done already.
pub fn set_up() -> Result<()> {
    install()?;
    let stage = Stage::spinner("Building the pages");
    build_pages()?;
    stage.done("web/dist");
    let stage = Stage::heading("Building the functions");
    build_functions()?;
    stage.done("target/lambda");
    Ok(())
}

/// Installs the local cloud into the checkout, unless it is installed. Nothing outside of it changes.
pub fn install() -> Result<()> {
    // Also those that are needed later.
    let needed = Command::new(paths::root().join("tools/needed.sh")).stdin(Stdio::null()).output()?;
    ensure!(needed.status.success(), "{}", String::from_utf8_lossy(&needed.stderr).trim_end());
    let stage = Stage::spinner("Installing the local cloud");
    run(&mut Command::new(paths::root().join("tools/install.sh")), "tools/install.sh")?;
    stage.done("Valkey, AWS emulator, CDK");
    Ok(())
}

/// Sets up, unless everything is `built`, and starts the whole system with its page on free ports. Dropping both ends
/// everything. Does `work` with the issuer while the app is deployed.
pub(crate) async fn start_while<T, F>(built: bool, work: impl FnOnce(Issuer) -> F) -> Result<(T, Cloud, WebServer)>
where
    F: Future<Output = Result<T>>,
{
    usable_state()?;
    if !built {
        tokio::task::spawn_blocking(set_up).await??;
    }
    let stage = Stage::spinner("Starting and deploying");
    // Node runs in a process of its own, while the start of the ground blocks this thread.
    let (_, ground) = tokio::try_join!(synthesis::prepare(), Ground::start())?;
    let work = work(ground.issuer.clone());
    let (done, cloud) = tokio::try_join!(work, Cloud::on(ground))?;
    let web = WebServer::start(&cloud.deployment, cloud.issuer.clone(), cloud.gateway.served()).await?;
    stage.done(web.url());
    Ok((done, cloud, web))
}
