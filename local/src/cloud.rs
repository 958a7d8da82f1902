//! Everything together.

use anyhow::Result;

use crate::deployment::{Deployment, deploy};
use crate::emulator::Emulator;
use crate::identity::Issuer;
use crate::valkey::Valkey;

/// The whole system on this machine. Dropping it ends everything.
pub struct Cloud {
    /// Where everything is.
    pub deployment: Deployment,
    /// Who signs tokens.
    pub issuer: Issuer,
    // In the order in which they end: functions before the Redis that they talk to.
    _emulator: Emulator,
    /// Redis.
    pub valkey: Valkey,
}

impl Cloud {
    /// Starts Valkey and the emulator, publishes an issuer and deploys the app. The functions must be built.
    ///
    /// # Errors
    /// If any of it fails.
    pub async fn start() -> Result<Self> {
        let valkey = Valkey::start()?;
        let emulator = Emulator::start(valkey.port())?;
        let issuer = Issuer::publish(&emulator.endpoint()).await?;
        let deployment = deploy(&emulator.endpoint(), issuer.url(), emulator.home()).await?;
        Ok(Self { deployment, issuer, _emulator: emulator, valkey })
    }
}
