use std::sync::Arc;

use pass::KeyRing;
use runtime::{Secret, SecretError};

/// The keys that seal and open passes, read from Secrets Manager.
#[derive(Debug, Clone)]
pub struct PassKeys(Secret<KeyRing>);

impl PassKeys {
    /// The keys in `secret`.
    pub const fn new(secret: Secret<KeyRing>) -> Self {
        Self(secret)
    }

    /// The keys: a few minutes old at most while Secrets Manager answers.
    ///
    /// # Errors
    /// If none were read yet and Secrets Manager does not give them.
    pub async fn ring(&self) -> Result<Arc<KeyRing>, SecretError> {
        self.0.get().await
    }
}
