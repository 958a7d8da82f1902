//! Requests to the merchant's address, signed as [Standard Webhooks](https://www.standardwebhooks.com) specifies.
//!
//! The address comes from the deployment's settings, never from a request. Even so, a receiver can do nothing but
//! answer: only `https` is used (and `http` to this machine, for tests), redirects are not followed, only the status of
//! the answer is read, and everything has a time limit.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use http::Uri;
use runtime::{Secret, SecretError};
use sale::EpochMs;
use standardwebhooks::Webhook;

/// The longest wait for an answer. Together with the caller's other work it fits into the 20 s for a message.
const TIMEOUT: Duration = Duration::from_secs(8);

#[derive(Debug, thiserror::Error)]
#[error("an address must begin with https:// and a host, and must not have a user name")]
pub struct InvalidAddress;

#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error("the receiver cannot be reached")]
    NotThere(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the receiver did not answer in time")]
    Slow,
    /// A status other than success. A redirect is not one.
    #[error("the receiver answered {0}")]
    Status(u16),
    #[error("the request cannot be signed")]
    Key(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Posts to the merchant's address, and signs what it posts.
#[derive(Clone)]
pub struct WebhookClient {
    http: Arc<Connector>,
    url: String,
    secret: Secret,
}

impl WebhookClient {
    /// The receiver at `url`, if there is one. The key is the secret's text, byte for byte. Fails if it is not an `https`
    /// address.
    pub fn new(url: Option<String>, secret: Secret) -> Result<Option<Self>, InvalidAddress> {
        let Some(url) = url else { return Ok(None) };
        if !is_usable(&url) {
            return Err(InvalidAddress);
        }
        let http = Connector::builder().tls_provider(Provider::Rustls(CryptoMode::Ring)).build();
        Ok(Some(Self { http: Arc::new(http), url, secret }))
    }

    /// Posts a JSON body. Repeat it with the same id, which is also the idempotency key. Fails if the receiver did not
    /// answer with success; it may or may not have the request then. Can be repeated.
    pub async fn send(&self, id: &str, body: String, now: EpochMs) -> Result<(), PostError> {
        let secret = self.secret.get().await?;
        let key = |error: standardwebhooks::WebhookError| PostError::Key(error.into());
        let webhook = Webhook::from_bytes(secret.as_bytes().to_vec()).map_err(key)?;
        let timestamp = now.as_epoch_s();
        let signature = webhook.sign(id, timestamp, body.as_bytes()).map_err(key)?;
        let mut request = HttpRequest::new(SdkBody::from(body));
        let not_there = |error: Box<dyn std::error::Error + Send + Sync>| PostError::NotThere(error);
        request.set_method("POST").map_err(|error| not_there(error.into()))?;
        request.set_uri(self.url.as_str()).map_err(|error| not_there(error.into()))?;
        let headers = request.headers_mut();
        headers.insert("content-type", "application/json");
        headers.insert("idempotency-key", id.to_owned());
        headers.insert("webhook-id", id.to_owned());
        headers.insert("webhook-timestamp", timestamp.to_string());
        headers.insert("webhook-signature", signature);
        let answered = tokio::time::timeout(TIMEOUT, self.http.call(request)).await.map_err(|_| PostError::Slow)?;
        match answered.map_err(|error| not_there(error.into()))?.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(PostError::Status(status)),
        }
    }
}

fn is_usable(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    let host = authority.host();
    let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let is_here = address.is_some_and(|address| address.is_loopback());
    !host.is_empty() && !authority.as_str().contains('@') && (scheme == "https" || (scheme == "http" && is_here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_https_but_for_this_machine() {
        for usable in
            ["https://shop.example.com/hooks?a=b", "https://h:8443", "http://127.0.0.1:9/x", "http://[::1]:9/"]
        {
            assert!(is_usable(usable), "{usable}");
        }
        let others = "http://shop.example.com/ http://localhost/ http://169.254.169.254/latest /hooks https:// \
            https://user:word@shop.example.com/ ftp://shop.example.com/ file:///etc/passwd shop.example.com ";
        for not in others.split(' ') {
            assert!(!is_usable(not), "{not}");
        }
    }
}
