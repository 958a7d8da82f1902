//! The environment of every function: settings, secrets, clocks, caches, breakers, AWS, logs, metrics.

mod aws;
mod aws_client;
mod batch;
pub mod breaker;
pub mod cache;
mod counts;
mod metrics;
mod once_per_span;
mod secret;
mod settings;
mod sync;
mod telemetry;

use std::time::Duration;

pub use aws::{SdkConfig, aws_config, aws_config_at};
pub use aws_client::{AwsClient, AwsError};
pub use batch::{FailedDelivery, MessageError, StreamEvent, StreamResponse, each_message};
pub use cache::{Clock, Moment};
pub use metrics::{Metrics, SampledMs};
pub use once_per_span::OncePerSpan;
pub use secret::{Secret, SecretError, secret_text};
pub use settings::{MissingSetting, Settings};
pub use telemetry::init_telemetry;

/// The time limit of a request: a little less than Lambda's 10 s, after which the client would get no answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(9);
/// The same for an operator's request, for which Lambda allows 29 s.
pub const OPERATOR_ANSWER_TIMEOUT: Duration = Duration::from_secs(27);
