use std::sync::Mutex;
use std::time::{Duration, Instant};

use metrics_cloudwatch_embedded::{Builder, Collector};

/// How often a function that answers requests tells its numbers: a minute, over which alarms look, has several.
const EVERY: Duration = Duration::from_secs(5);

/// Publishes numbers that were given to the `metrics` crate, as lines on standard output in CloudWatch's embedded metric
/// format: Lambda's log carries them, so no call is made.
pub struct Metrics {
    collector: &'static Collector,
    published: Mutex<Option<Instant>>,
}

impl Metrics {
    /// Takes every number from here on, for the CloudWatch namespace `namespace`. Once in a process.
    ///
    /// # Panics
    /// If numbers are taken already.
    pub fn init(namespace: String) -> Self {
        let collector = Builder::new().cloudwatch_namespace(namespace).emit_zeros(true).init();
        Self { collector: collector.expect("the only recorder"), published: Mutex::new(None) }
    }

    /// Writes what was counted since the last time.
    pub fn publish(&self) {
        if let Err(error) = self.collector.flush(std::io::stdout()) {
            tracing::error!(error = &error as &dyn std::error::Error, "metrics are lost");
        }
    }

    /// Likewise, if that was not done within the last few seconds, after `count` has counted. Cheap enough for every
    /// request: whoever finds another at it goes on.
    pub fn publish_now_and_then(&self, count: impl FnOnce()) {
        let Ok(mut published) = self.published.try_lock() else { return };
        if published.is_none_or(|at| at.elapsed() >= EVERY) {
            *published = Some(Instant::now());
            count();
            self.publish();
        }
    }
}
