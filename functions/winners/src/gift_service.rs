use std::time::Duration;

use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use runtime::{Secret, SecretError};
use sale::EpochMs;
use standardwebhooks::Webhook;

/// Longest wait for an answer. With the wait for its turn it fits the 20 s that a message has.
const TIMEOUT: Duration = Duration::from_secs(8);

/// The gift service did not take a winner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GiftError {
    #[error("the gift service cannot be reached")]
    NotThere(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the gift service did not answer in time")]
    Slow,
    #[error("the gift service answered {0}")]
    Status(u16),
    #[error("the notification cannot be signed")]
    Key(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// The merchant's service that sends prizes out.
pub(crate) struct GiftService {
    http: Connector,
    url: String,
    secret: Secret,
}

impl GiftService {
    pub(crate) fn new(url: String, secret: Secret) -> Self {
        Self { http: Connector::builder().tls_provider(Provider::Rustls(CryptoMode::Ring)).build(), url, secret }
    }

    /// Tells of a winner, signed as Standard Webhooks says. Whatever comes twice has the same id, which is its idempotency key
    /// as well. A redirect is followed nowhere: it is no success.
    pub(crate) async fn tell(&self, id: &str, body: String, now: EpochMs) -> Result<(), GiftError> {
        let secret = self.secret.get().await?;
        let key = |error: standardwebhooks::WebhookError| GiftError::Key(error.into());
        let webhook = Webhook::from_bytes(secret.as_bytes().to_vec()).map_err(key)?;
        let timestamp = now.as_epoch_s();
        let signature = webhook.sign(id, timestamp, body.as_bytes()).map_err(key)?;
        let mut request = HttpRequest::new(SdkBody::from(body));
        let not_there = |error: Box<dyn std::error::Error + Send + Sync>| GiftError::NotThere(error);
        request.set_method("POST").map_err(|error| not_there(error.into()))?;
        request.set_uri(self.url.as_str()).map_err(|error| not_there(error.into()))?;
        let headers = request.headers_mut();
        headers.insert("content-type", "application/json");
        headers.insert("idempotency-key", id.to_owned());
        headers.insert("webhook-id", id.to_owned());
        headers.insert("webhook-timestamp", timestamp.to_string());
        headers.insert("webhook-signature", signature);
        let answered = tokio::time::timeout(TIMEOUT, self.http.call(request)).await.map_err(|_| GiftError::Slow)?;
        match answered.map_err(|error| not_there(error.into()))?.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(GiftError::Status(status)),
        }
    }
}
