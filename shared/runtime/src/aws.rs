use std::time::Duration;

use aws_config::ConfigLoader;
pub use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest wait for one attempt of a call.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest wait for a call with all its attempts. The shortest function runs 10 s and makes one call after another only
/// where it can be cut off between them.
const CALL_TIMEOUT: Duration = Duration::from_secs(7);
/// Attempts of a call: the queue and the client try again later, so there is no use in many.
const MAX_ATTEMPTS: u32 = 3;
const _: () = assert!(ATTEMPT_TIMEOUT.as_millis() * 2 < CALL_TIMEOUT.as_millis() && CALL_TIMEOUT.as_secs() < 10);

/// The configuration of every AWS client: region, credentials and endpoint from the environment.
pub async fn aws_config() -> SdkConfig {
    aws_loader().load().await
}

/// What every AWS client has, wherever its region, credentials and endpoint come from: bounds on every wait.
pub fn aws_loader() -> ConfigLoader {
    // ring builds in a fraction of the time of the default provider.
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    aws_config::from_env()
        .http_client(http)
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(MAX_ATTEMPTS))
}
