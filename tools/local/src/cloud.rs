//! The whole system.

use anyhow::Result;

use crate::deployment::{Deployment, deploy};
use crate::emulator::Emulator;
use crate::gateway::{Concurrency, Gateway};
use crate::identity::Issuer;
use crate::valkey::Valkey;

/// The whole system on this machine. Dropping it ends everything.
pub struct Cloud {
    pub deployment: Deployment,
    pub issuer: Issuer,
    pub gateway: Gateway,
    // In the order in which they end: functions before the Redis that they talk to.
    pub(crate) emulator: Emulator,
    pub valkey: Valkey,
}

/// Valkey, the emulator and the issuer, before the app is deployed. Dropping this ends them.
pub struct Ground {
    pub issuer: Issuer,
    emulator: Emulator,
    valkey: Valkey,
}

impl Ground {
    pub async fn start() -> Result<Self> {
        let valkey = Valkey::start()?;
        let emulator = Emulator::start(valkey.port())?;
        let issuer = Issuer::publish(&emulator.endpoint()).await?;
        Ok(Self { issuer, emulator, valkey })
    }
}

impl Cloud {
    pub async fn start() -> Result<Self> {
        Self::on(Ground::start().await?).await
    }

    pub async fn on(ground: Ground) -> Result<Self> {
        let Ground { issuer, emulator, valkey } = ground;
        let endpoint = emulator.endpoint();
        let mut deployment = deploy(&endpoint, issuer.url(), emulator.home()).await?;
        let gateway = Gateway::start(&endpoint, 0, emulator.home(), Concurrency::FAST).await?;
        deployment.api_url = gateway.url();
        Ok(Self { deployment, issuer, gateway, emulator, valkey })
    }
}
