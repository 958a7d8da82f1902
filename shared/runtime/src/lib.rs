//! What every function needs from its surroundings: settings, secrets, clock, AWS configuration, logs, metrics.

mod aws;
mod batch;
mod metrics;
mod secret;
mod serve;
mod settings;
mod stream;
mod telemetry;

pub use aws::{SdkConfig, aws_config, aws_config_at};
pub use batch::{MessageError, ReceivedMessage, each_message};
pub use cache::Clock;
pub use metrics::{Metrics, SampledMs};
pub use secret::{Secret, SecretError};
pub use serve::{ANSWER_TIMEOUT, OPERATOR_ANSWER_TIMEOUT, serve_events};
pub use settings::{MissingSetting, Settings};
pub use stream::{StreamEvent, StreamResponse};
pub use telemetry::init_telemetry;
