//! A system that all test processes of one run share. It ends with the runner, however that ends.

use std::fs::{OpenOptions, rename, write};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::unistd::getppid;
use serde::{Deserialize, Serialize};

use crate::cloud::Cloud;
use crate::deployment::Deployment;
use crate::identity::Issuer;
use crate::paths;
use crate::process::{ProcessRun, start_detached, tail};
use crate::setup::set_up;
use crate::up::this_program;

/// The variable with the path of the file that says where the system is.
const VARIABLE: &str = "LENT_SYSTEM";
const POLL: Duration = Duration::from_millis(50);

#[derive(Serialize, Deserialize)]
struct Lent {
    deployment: Deployment,
    issuer_key_pem: String,
}

/// As a setup script of nextest, starts a system that lives as long as nextest, and tells its tests where it is.
pub async fn lend() -> Result<()> {
    // The file to which a setup script of nextest writes variables for tests.
    let tests = std::env::var_os("NEXTEST_ENV").context("NEXTEST_ENV is not set; nextest sets it")?;
    let runner = getppid().as_raw();
    tokio::task::spawn_blocking(set_up).await??;
    ensure!(getppid().as_raw() == runner, "the runner has ended");
    let folder = paths::state().join(format!("lent-{runner}"));
    let (file, log) = (folder.join("system.json"), folder.join("system.log"));
    // Of a runner that had the same id.
    let _ = std::fs::remove_dir_all(&folder);
    let mut command = Command::new(this_program()?);
    command.args(["serve", "--runner", &runner.to_string(), "--folder"]).arg(&folder);
    // Its standard input may close: only the runner's end counts.
    let (server, _) = start_detached("the lent system", &mut command, &log)?;
    while !file.exists() {
        ensure!(server.is_running(), "the system does not start:\n{}", tail(&log));
        tokio::time::sleep(POLL).await;
    }
    let mut tests = OpenOptions::new().append(true).open(tests)?;
    Ok(writeln!(tests, "{VARIABLE}={}", file.display())?)
}

/// Dropping it removes the folder, also when a signal ends `serve`.
struct Folder<'a>(&'a Path);

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0);
    }
}

/// Serves a system until the runner has ended, and removes its folder.
pub async fn serve(runner: i32, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let _folder = Folder(folder);
    let gone = async {
        if let Some(runner) = ProcessRun::of(runner) {
            runner.ended().await;
        }
    };
    let served = async {
        let cloud = Cloud::start().await?;
        let lent =
            Lent { deployment: cloud.deployment.clone(), issuer_key_pem: cloud.issuer.private_key_pem().to_owned() };
        let coming = folder.join("coming.json");
        write(&coming, serde_json::to_string(&lent)?)?;
        rename(coming, folder.join("system.json"))?;
        std::future::pending().await
    };
    // Dropping the system ends it.
    tokio::select! {
        failed = served => failed,
        () = gone => Ok(()),
    }
}

pub fn borrow() -> Result<(Deployment, Issuer)> {
    let file = std::env::var_os(VARIABLE).context("no system: run this with `cargo nextest run`, which starts one")?;
    let Lent { deployment, issuer_key_pem } = serde_json::from_slice(&std::fs::read(file)?)?;
    let issuer = Issuer::from_pem(&deployment.endpoint, issuer_key_pem)?;
    Ok((deployment, issuer))
}
