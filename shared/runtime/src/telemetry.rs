use tracing::{Level, Metadata};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{Metrics, MissingSetting, Settings};

/// Starts a function's logs and metrics, and counts the start of the process. Call it once in a process. With
/// `METRICS=off` no metrics are published: in an idle deployment each metric costs as much as a secret. `LOG_LEVEL` is
/// the lowest level that is logged (default `info`). Fails if `METRICS_NAMESPACE` is not set.
pub fn init_telemetry(settings: &Settings) -> Result<Metrics, MissingSetting> {
    init_logs(settings.optional("LOG_LEVEL").and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::INFO));
    let published = settings.optional("METRICS").is_none_or(|metrics| metrics != "off");
    let metrics = Metrics::init(settings.required("METRICS_NAMESPACE")?, published);
    metrics::counter!("ColdStarts").increment(1);
    Ok(metrics)
}

/// One JSON object a line, from this level up.
fn init_logs(level: LevelFilter) {
    let logs = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(level).with_current_span(false);
    logs.finish().with(filter_fn(|metadata| !has_raw_events(metadata))).init();
}

/// At the lowest level Lambda's runtime logs every event in full, including its token.
fn has_raw_events(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("lambda_runtime") && *metadata.level() == Level::TRACE
}
