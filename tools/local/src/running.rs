//! What `make up` has left running.

use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::deployment::Deployment;
use crate::identity::Issuer;
use crate::paths;
use crate::process::{ProcessRun, loopback};

pub(crate) const NOTHING_RUNS: &str = "nothing is running; start it with `make up`";

#[derive(Serialize, Deserialize)]
pub(crate) struct Running {
    /// The process that runs all the others.
    pub(crate) supervisor: ProcessRun,
    pub(crate) ports: Ports,
    pub(crate) issuer_key_pem: String,
    pub(crate) deployment: Option<Deployment>,
}

#[derive(Debug, Clone, Copy, Args, Serialize, Deserialize)]
pub struct Ports {
    #[arg(long)]
    pub valkey: u16,
    #[arg(long)]
    pub emulator: u16,
    #[arg(long)]
    pub gateway: u16,
    #[arg(long)]
    pub web: u16,
}

pub(crate) fn file() -> PathBuf {
    paths::state().join("up.json")
}

pub(crate) fn log(name: &str) -> PathBuf {
    paths::state().join(format!("up-{name}.log"))
}

impl Running {
    pub(crate) fn read() -> Result<Option<Self>> {
        match std::fs::read(file()) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(running) => Ok(Some(running)),
                Err(_) => bail!("{} is damaged; remove it, then `make up`", file().display()),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file().display())),
        }
    }

    /// A concurrent reader gets the old file or all of the new one, even if the disk is full.
    pub(crate) fn write(&self) -> Result<()> {
        let coming = file().with_extension("json.coming");
        let text = serde_json::to_string_pretty(self)?;
        let written = std::fs::write(&coming, text).and_then(|()| std::fs::rename(&coming, file()));
        if written.is_err() {
            let _ = std::fs::remove_file(&coming);
        }
        written.with_context(|| format!("cannot write {}", file().display()))
    }

    pub(crate) fn page_url(&self) -> String {
        loopback(self.ports.web)
    }
}

pub fn running() -> Result<(Deployment, Issuer)> {
    let running = Running::read()?.context(NOTHING_RUNS)?;
    if !running.supervisor.is_running() {
        bail!("what `make up` started was killed; start it again with `make up`");
    }
    let deployment = running.deployment.clone().context("`make up` is still starting it; try again when it is done")?;
    let issuer = issuer(&running, &deployment)?;
    Ok((deployment, issuer))
}

/// Like [`running`], with a client that asks its API as an operator.
pub fn api() -> Result<(Client, Deployment, Issuer)> {
    let (deployment, issuer) = running()?;
    Ok((Client::for_operator(&deployment.api_url, &issuer)?, deployment, issuer))
}

pub(crate) fn issuer(running: &Running, deployment: &Deployment) -> Result<Issuer> {
    Issuer::from_pem(&deployment.endpoint, running.issuer_key_pem.clone())
}
