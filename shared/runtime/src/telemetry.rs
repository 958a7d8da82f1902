use tracing_subscriber::EnvFilter;

/// Writes logs as one JSON object a line, from `LOG_LEVEL` up (`info` unless set).
pub fn init_logs() {
    let filter =
        EnvFilter::builder().with_env_var("LOG_LEVEL").try_from_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).with_current_span(false).init();
}
