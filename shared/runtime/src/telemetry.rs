use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{Metrics, MissingSetting, Settings};

/// Starts a function's logs and metrics, and counts the start of the process. Call it once in a process. With
/// `METRICS=off` no metrics are published: in an idle deployment each metric costs as much as a secret.
///
/// # Errors
/// If `METRICS_NAMESPACE` is not set.
pub fn init_telemetry(settings: &Settings) -> Result<Metrics, MissingSetting> {
    init_logs();
    let published = settings.optional("METRICS").is_none_or(|metrics| metrics != "off");
    let metrics = Metrics::init(settings.required("METRICS_NAMESPACE")?, published);
    metrics::counter!("ColdStarts").increment(1);
    Ok(metrics)
}

/// One JSON object a line, from `LOG_LEVEL` up (default `info`).
fn init_logs() {
    let filter =
        EnvFilter::builder().with_env_var("LOG_LEVEL").try_from_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).with_current_span(false);
    logs.finish().with(filter_fn(|metadata| !has_raw_events(metadata))).init();
}

/// At the lowest level Lambda's runtime logs every event in full, including its token.
fn has_raw_events(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("lambda_runtime") && *metadata.level() == Level::TRACE
}
