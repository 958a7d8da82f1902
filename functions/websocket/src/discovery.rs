use std::time::Duration;

use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use http_body_util::{BodyExt as _, Limited};
use serde::Deserialize;

use crate::keys::IssuerKeys;

/// The largest document in bytes. Those of known issuers have some kilobytes.
const MAX_DOCUMENT: usize = 256 * 1024;
/// The time limit for both documents: the rest of the function's ten seconds is for DynamoDB.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(4);

#[derive(Debug, thiserror::Error)]
pub(crate) enum DiscoveryError {
    #[error("{what} did not come")]
    NotThere {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{what} came with status {status}")]
    Status { what: &'static str, status: u16 },
    #[error("{0} cannot be read")]
    Unreadable(&'static str, #[source] serde_json::Error),
    #[error("the discovery document belongs to another issuer")]
    AnotherIssuer,
    #[error("the keys' URL is not HTTPS")]
    NotHttps,
    #[error("none of the keys can be used")]
    NoKeys,
}

/// The members of an issuer's document, as OpenID Connect Discovery 1.0 specifies.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    jwks_uri: String,
}

/// Fetches the keys that `issuer` publishes.
///
/// Setting up TLS reads the machine's certificates, which takes longer than the whole start of this function. The keys are
/// fetched so rarely that it is done each time.
pub(crate) async fn keys(issuer: &str) -> Result<IssuerKeys, DiscoveryError> {
    const DOCUMENT: &str = "the discovery document";
    const KEYS: &str = "the key set";
    let http = Connector::builder().tls_provider(Provider::Rustls(CryptoMode::Ring)).build();
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let document = get(&http, DOCUMENT, &url).await?;
    let document: Document =
        serde_json::from_slice(&document).map_err(|error| DiscoveryError::Unreadable(DOCUMENT, error))?;
    if document.issuer != issuer {
        return Err(DiscoveryError::AnotherIssuer);
    }
    // An issuer without TLS is a local one: the CDK app's settings refuse it elsewhere.
    if !document.jwks_uri.starts_with("https://") && issuer.starts_with("https://") {
        return Err(DiscoveryError::NotHttps);
    }
    let keys = get(&http, KEYS, &document.jwks_uri).await?;
    let keys = IssuerKeys::read(&keys).map_err(|error| DiscoveryError::Unreadable(KEYS, error))?;
    if keys.is_empty() { Err(DiscoveryError::NoKeys) } else { Ok(keys) }
}

/// Redirects are not followed: they are a status other than 200.
async fn get(http: &Connector, what: &'static str, url: &str) -> Result<Vec<u8>, DiscoveryError> {
    let mut request = HttpRequest::new(SdkBody::empty());
    let not_there = |source| DiscoveryError::NotThere { what, source };
    request.set_uri(url).map_err(|error| not_there(error.into()))?;
    let response = http.call(request).await.map_err(|error| not_there(error.into()))?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(DiscoveryError::Status { what, status });
    }
    Ok(Limited::new(response.into_body(), MAX_DOCUMENT).collect().await.map_err(not_there)?.to_bytes().into())
}
