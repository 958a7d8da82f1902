use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use metrics_cloudwatch_embedded::{Builder, Collector};

/// How often a function that answers requests tells its numbers: a minute, over which alarms look, has several.
const EVERY: Duration = Duration::from_secs(5);

/// Values of one metric between two times that numbers are published: what one document of the embedded format holds
/// (CloudWatch user guide, "Embedded metric format specification").
const MAX_VALUES: u64 = 100;

/// When the process began to measure.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// How long something takes that happens often: of each 50 ms the first value, which is as many as can be told.
#[derive(Debug)]
pub struct SampledMs {
    name: &'static str,
    /// The number of the span of time after the last one that has a value.
    next: AtomicU64,
}

impl SampledMs {
    /// A metric of this name, in milliseconds.
    pub const fn new(name: &'static str) -> Self {
        Self { name, next: AtomicU64::new(0) }
    }

    /// Takes the time since `began`, or leaves it.
    pub fn record(&self, began: Instant) {
        let now = BEGAN.elapsed().as_millis() as u64 / (EVERY.as_millis() as u64 / MAX_VALUES);
        let next = self.next.load(Ordering::Relaxed);
        let first =
            now >= next && self.next.compare_exchange(next, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if first {
            metrics::histogram!(self.name).record(began.elapsed().as_secs_f64() * 1e3);
        }
    }
}

/// Publishes numbers that were given to the `metrics` crate, as lines on standard output in CloudWatch's embedded metric
/// format: Lambda's log carries them, so no call is made. Its clones are one.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    collector: &'static Collector,
    published: Mutex<Option<Instant>>,
    counts: Mutex<Vec<Box<dyn Fn() + Send>>>,
    /// Or they are taken and thrown away.
    is_published: bool,
}

impl Metrics {
    /// Takes every number from here on, for the CloudWatch namespace `namespace` if they are to be published. Once in a process.
    ///
    /// # Panics
    /// If numbers are taken already.
    pub(crate) fn init(namespace: String, is_published: bool) -> Self {
        let collector = Builder::new().cloudwatch_namespace(namespace).emit_zeros(true).init();
        let collector = collector.expect("the only recorder");
        Self(Arc::new(Inner { collector, published: Mutex::default(), counts: Mutex::default(), is_published }))
    }

    /// Has `count` count each time before numbers are published, beside what does so already.
    pub fn before_publishing(self, count: impl Fn() + Send + 'static) -> Self {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(count));
        self
    }

    /// Writes what was counted since the last time.
    pub fn publish(&self) {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|count| count());
        let told = if self.0.is_published {
            self.0.collector.flush(std::io::stdout())
        } else {
            self.0.collector.flush(std::io::sink())
        };
        if let Err(error) = told {
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
