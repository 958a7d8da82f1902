use std::sync::Arc;

use pass::KeyRing;
use runtime::{Secret, SecretError};

/// The keys that passes are sealed and opened with, as Secrets Manager has them.
#[derive(Debug, Clone)]
pub struct PassKeys(Secret<KeyRing>);

impl PassKeys {
    /// The keys in `secret`.
    pub const fn new(secret: Secret<KeyRing>) -> Self {
        Self(secret)
    }

    /// The keys as they are now, or were a minute ago.
    ///
    /// # Errors
    /// If none were read yet and Secrets Manager does not give them.
    pub async fn ring(&self) -> Result<Arc<KeyRing>, SecretError> {
        self.0.get().await
    }
}
