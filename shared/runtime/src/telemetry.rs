use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{Metrics, MissingSetting, Settings};

/// Starts a function's logs and metrics, and counts the start of the process. Call it once in a process. With
/// `METRICS=off` no metrics are published: in an idle deployment each metric costs as much as a secret. `LOG_LEVEL` is
/// the lowest level that is logged (default `info`). Fails if `METRICS_NAMESPACE` is not set.
pub fn init_telemetry(settings: &Settings) -> Result<Metrics, MissingSetting> {
    let level = settings.optional("LOG_LEVEL").and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::INFO);
    // One JSON object a line.
    let logs = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(level).with_current_span(false);
    // At the lowest level Lambda's runtime logs every event in full, including its token.
    let is_shown = filter_fn(|log| !(log.target().starts_with("lambda_runtime") && *log.level() == Level::TRACE));
    logs.finish().with(is_shown).init();
    let published = settings.optional("METRICS").is_none_or(|metrics| metrics != "off");
    let metrics = Metrics::init(settings.required("METRICS_NAMESPACE")?, published);
    metrics::counter!("ColdStarts").increment(1);
    Ok(metrics)
}
