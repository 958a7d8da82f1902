use std::sync::Arc;

use pass::KeyRing;
use runtime::{Secret, SecretError};

/// The keys that sign and verify passes, read from Secrets Manager.
#[derive(Debug, Clone)]
pub struct PassKeys(Secret<KeyRing>);

impl PassKeys {
    /// Reads the keys from `secret`.
    pub const fn new(secret: Secret<KeyRing>) -> Self {
        Self(secret)
    }

    /// The keys, at most a few minutes old while Secrets Manager answers. Fails if no keys have been read yet and
    /// Secrets Manager does not answer.
    pub async fn ring(&self) -> Result<Arc<KeyRing>, SecretError> {
        self.0.get().await
    }
}
