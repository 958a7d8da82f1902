use metrics_cloudwatch_embedded::{Builder, Collector};

/// Publishes numbers that were given to the `metrics` crate, as lines on standard output in CloudWatch's embedded metric
/// format: Lambda's log carries them, so no call is made.
pub struct Metrics(&'static Collector);

impl Metrics {
    /// Takes every number from here on, for the CloudWatch namespace `namespace`. Once in a process.
    ///
    /// # Panics
    /// If numbers are taken already.
    pub fn init(namespace: String) -> Self {
        Self(Builder::new().cloudwatch_namespace(namespace).emit_zeros(true).init().expect("the only recorder"))
    }

    /// Writes what was counted since the last time.
    pub fn publish(&self) {
        if let Err(error) = self.0.flush(std::io::stdout()) {
            tracing::error!(error = &error as &dyn std::error::Error, "metrics are lost");
        }
    }
}
