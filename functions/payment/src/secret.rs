use std::sync::Arc;

use aws_sdk_secretsmanager::Client;
use tokio::sync::OnceCell;

/// Secrets Manager did not give the key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    /// No answer, or a refusal.
    #[error("Secrets Manager did not give the webhook's key")]
    SecretsManager(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An answer without a text.
    #[error("the webhook's secret has no text in it")]
    Empty,
}

/// The key that callbacks are signed with: read from Secrets Manager at the first callback and kept by the process.
#[derive(Clone)]
pub struct Secret {
    client: Client,
    arn: Arc<str>,
    key: Arc<OnceCell<String>>,
}

impl Secret {
    /// The secret at `arn`.
    pub fn new(client: Client, arn: impl Into<Arc<str>>) -> Self {
        Self { client, arn: arn.into(), key: Arc::default() }
    }

    pub(crate) async fn get(&self) -> Result<String, SecretError> {
        self.key.get_or_try_init(|| self.read()).await.cloned()
    }

    async fn read(&self) -> Result<String, SecretError> {
        let output = self.client.get_secret_value().secret_id(&*self.arn).send().await;
        let output = output.map_err(|error| SecretError::SecretsManager(Box::new(error)))?;
        output.secret_string.filter(|key| !key.is_empty()).ok_or(SecretError::Empty)
    }
}
