use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use metrics_cloudwatch_embedded::{Builder, Collector};

use crate::counts::Counts;
use crate::once_per_span::OncePerSpan;

/// How often a function that answers requests publishes its metrics: several times in the minute of an alarm.
const EVERY: Duration = Duration::from_secs(5);

/// The most values of a metric between two publications: the limit of a document in the embedded metric format
/// (CloudWatch user guide, "Embedded metric format specification").
const MAX_VALUES: u32 = 100;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The number of the span that lasts `every` and is now.
fn span_of_now(every: Duration) -> u64 {
    (BEGAN.elapsed().as_nanos() / every.as_nanos()) as u64
}

/// The duration of something frequent: samples the first value in each 50 ms, the most that can be published.
#[derive(Debug)]
pub struct SampledMs {
    name: &'static str,
    /// The spans of time that have a value.
    sampled: OncePerSpan,
}

impl SampledMs {
    pub const fn new(name: &'static str) -> Self {
        Self { name, sampled: OncePerSpan::new() }
    }

    /// Records the time since `began`, unless this span already has a value.
    pub fn record(&self, began: Instant) {
        if self.sampled.take(span_of_now(EVERY / MAX_VALUES)) {
            metrics::histogram!(self.name).record(began.elapsed().as_secs_f64() * 1e3);
        }
    }
}

/// Publishes values given to the `metrics` crate, as lines on standard output in CloudWatch's embedded metric format:
/// Lambda's log carries them, so no call is made. Clones share it.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    collector: &'static Collector,
    published: OncePerSpan,
    counts: Counts,
    /// If not, values are dropped.
    is_published: bool,
}

impl Metrics {
    /// Starts to collect all values, for the CloudWatch namespace `namespace` if they are to be published. Call it once
    /// in a process. Panics if it was called before.
    pub(crate) fn init(namespace: String, is_published: bool) -> Self {
        let collector = Builder::new().cloudwatch_namespace(namespace).emit_zeros(true).init();
        let collector = collector.expect("the only recorder");
        Self(Arc::new(Inner { collector, published: OncePerSpan::new(), counts: Counts::default(), is_published }))
    }

    /// Runs `count` each time before values are published, in addition to earlier ones.
    pub fn before_publishing(self, count: impl Fn() + Send + 'static) -> Self {
        self.0.counts.add(count);
        self
    }

    pub fn publish(&self) {
        self.0.counts.call_all();
        let told = if self.0.is_published {
            // A line is written in pieces, and another request's log must not come between them.
            self.0.collector.flush(std::io::stdout().lock())
        } else {
            self.0.collector.flush(std::io::sink())
        };
        if let Err(error) = told {
            tracing::error!(error = &error as &dyn std::error::Error, "metrics are lost");
        }
    }

    /// Like [`Self::publish`], at most once in each span of a few seconds. Cheap enough for every request.
    pub fn publish_throttled(&self) {
        if self.0.published.take(span_of_now(EVERY)) {
            self.publish();
        }
    }
}
