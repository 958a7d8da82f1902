//! Passes for tests, sealed with the lab's keys or those of the deployed system.

use pass::{KeyRing, Pass};
use tokio::sync::OnceCell;

use crate::prelude::*;
use crate::resources::make_secret;

const RING: &str = r#"{"signing":1,"key1":"a key for tests, which is long enough"}"#;
/// Stands for the pass in a path.
pub(crate) const PLACE: &str = "PASS";
/// A pass's age unless a test says otherwise: valid even on clocks that are minutes off.
const AGE_S: i64 = 150;

pub(crate) static LAB_RING: LazyLock<KeyRing> = LazyLock::new(|| RING.parse().unwrap());

#[derive(Debug, Clone)]
pub(crate) struct PassOf {
    pub(crate) sale: String,
    pub(crate) round: u32,
    pub(crate) user: String,
    pub(crate) issued_at: Option<EpochMs>,
}

impl PassOf {
    /// None if the sale or the user is not valid.
    pub(crate) fn seal(&self, ring: &KeyRing) -> Option<String> {
        let long_ago = || EpochMs(now().0 - AGE_S * 1000);
        let issued_at_ms = self.issued_at.unwrap_or_else(long_ago);
        let pass = Pass { round: RoundNumber(self.round), issued_at_ms, class: sale::BuyerClass::EVERYONE };
        Some(ring.seal(&pass, &self.sale.parse().ok()?, &self.user.parse().ok()?))
    }
}

/// The name of the emulator's secret with the keys of this test's labs.
pub(crate) async fn lab_secret() -> &'static str {
    static SECRET: OnceCell<String> = OnceCell::const_new();
    SECRET.get_or_init(|| make_secret("lab-pass-keys", RING)).await
}

pub(crate) async fn deployed_ring() -> &'static KeyRing {
    static DEPLOYED: OnceCell<KeyRing> = OnceCell::const_new();
    DEPLOYED.get_or_init(async || cloud().await.deployment.pass_ring().await.unwrap()).await
}
