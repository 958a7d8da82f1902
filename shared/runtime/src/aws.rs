use std::time::Duration;

pub use aws_config::SdkConfig;
use aws_config::ecs::EcsCredentialsProvider;
use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::provider_config::ProviderConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder as HttpClientBuilder, Connector};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector, http_client_fn,
};

use crate::{MissingSetting, Settings};

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest wait for a call with all its attempts. The shortest function timeout is 10 s, and a function makes one
/// call after another only where it can be cut off in between.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(7);
/// How often a call is attempted: queue and client retry later anyway, so many attempts are no use.
const MAX_ATTEMPTS: u32 = 3;
const _: () = assert!(ATTEMPT_TIMEOUT.as_millis() * 2 < CALL_TIMEOUT.as_millis() && CALL_TIMEOUT.as_secs() < 10);

/// ring builds in a fraction of the time of the default provider.
const TLS: Provider = Provider::Rustls(CryptoMode::Ring);

/// The certificate authorities that AWS clients trust: only Amazon Trust Services, which covers every AWS endpoint.
/// Reading the machine's list of some hundred would take most of a cold start.
const AMAZON_ROOTS: &str = include_str!(concat!(env!("OUT_DIR"), "/amazon_roots.pem"));

/// The configuration of a function's AWS clients, only from the settings and keys that Lambda sets. The SDK's own
/// loader would read files and prepare providers that a function does not need. Fails if `AWS_REGION` is not set.
pub fn aws_config(settings: &Settings) -> Result<SdkConfig, MissingSetting> {
    let http = http_client();
    let mut config = bounded(http.clone()).into_builder().region(Region::new(settings.required("AWS_REGION")?));
    config.set_endpoint_url(settings.optional("AWS_ENDPOINT_URL"));
    // Lambda sets keys, or where to get them.
    let asks = ProviderConfig::without_region().with_http_client(http);
    let credentials = CredentialsProviderChain::first_try("environment", EnvironmentVariableCredentialsProvider::new())
        .or_else("container", EcsCredentialsProvider::builder().configure(&asks).build());
    Ok(config.credentials_provider(SharedCredentialsProvider::new(credentials)).build())
}

/// The same for clients of an AWS at `endpoint`.
pub fn aws_config_at(endpoint: &str, region: &'static str, credentials: Credentials) -> SdkConfig {
    let config = bounded(http_client()).into_builder().endpoint_url(endpoint).region(Region::new(region));
    config.credentials_provider(SharedCredentialsProvider::new(credentials)).build()
}

/// The common configuration of AWS clients, with bounds on every wait.
fn bounded(http: SharedHttpClient) -> SdkConfig {
    let timeouts = TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).operation_attempt_timeout(ATTEMPT_TIMEOUT);
    let timeouts = timeouts.operation_timeout(CALL_TIMEOUT).build();
    let config = SdkConfig::builder().behavior_version(BehaviorVersion::latest()).http_client(http);
    config.timeout_config(timeouts).retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS)).build()
}

fn http_client() -> SharedHttpClient {
    let http = HttpClientBuilder::new().tls_provider(TLS).tls_context(tls_context()).build_https();
    // For each kind of client, the plain one would read the roots and set up TLS, and drop it all again: only to try it.
    http_client_fn(move |settings, components| http.http_connector(settings, components))
}

/// The same for requests that no client of the SDK makes.
pub(crate) fn http_connector(connect_timeout: Duration) -> SharedHttpConnector {
    let settings = HttpConnectorSettings::builder().connect_timeout(connect_timeout).build();
    let http = Connector::builder().tls_provider(TLS).tls_context(tls_context()).connector_settings(settings);
    SharedHttpConnector::new(http.build())
}

fn tls_context() -> TlsContext {
    let roots = TrustStore::empty().with_pem_certificate(AMAZON_ROOTS);
    TlsContext::builder().with_trust_store(roots).build().expect("nothing that can fail is set")
}
