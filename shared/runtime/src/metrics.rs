use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use metrics_cloudwatch_embedded::{Builder, Collector};

/// How often a function that answers requests tells its numbers: a minute, over which alarms look, has several.
const EVERY: Duration = Duration::from_secs(5);

/// Publishes numbers that were given to the `metrics` crate, as lines on standard output in CloudWatch's embedded metric
/// format: Lambda's log carries them, so no call is made. Its clones are one.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    collector: &'static Collector,
    published: Mutex<Option<Instant>>,
    count: Mutex<Box<dyn Fn() + Send + Sync>>,
}

impl Metrics {
    /// Takes every number from here on, for the CloudWatch namespace `namespace`. Once in a process.
    ///
    /// # Panics
    /// If numbers are taken already.
    pub(crate) fn init(namespace: String) -> Self {
        let collector = Builder::new().cloudwatch_namespace(namespace).emit_zeros(true).init();
        let collector = collector.expect("the only recorder");
        Self(Arc::new(Inner { collector, published: Mutex::default(), count: Mutex::new(Box::new(|| {})) }))
    }

    /// Has `count` count each time before numbers are published.
    pub fn before_publishing(self, count: impl Fn() + Send + Sync + 'static) -> Self {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(count);
        self
    }

    /// Writes what was counted since the last time.
    pub fn publish(&self) {
        (self.0.count.lock().unwrap_or_else(PoisonError::into_inner))();
        if let Err(error) = self.0.collector.flush(std::io::stdout()) {
            tracing::error!(error = &error as &dyn std::error::Error, "metrics are lost");
        }
    }

    /// Likewise, if that was not done within the last few seconds. Cheap enough for every request: whoever finds another
    /// at it goes on.
    pub fn publish_now_and_then(&self) {
        let Ok(mut published) = self.0.published.try_lock() else { return };
        if published.is_none_or(|at| at.elapsed() >= EVERY) {
            *published = Some(Instant::now());
            self.publish();
        }
    }
}
