//! What every function needs from its surroundings: settings, clock, AWS configuration, logs, metrics.

mod aws;
mod batch;
mod clock;
mod metrics;
mod settings;
mod telemetry;

pub use aws::{aws_config, aws_loader};
pub use batch::{Message, MessageError, each_message};
pub use clock::Clock;
pub use metrics::Metrics;
pub use settings::{MissingSetting, setting};
pub use telemetry::init_logs;
