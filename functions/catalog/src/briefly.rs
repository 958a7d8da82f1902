use std::future::ready;
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use moka::Expiry;
use moka::ops::compute::Op;
use rand::RngExt;

use super::sync::{Clock, FutureCache, Moment};

/// How long this process caches what it has read, in milliseconds. Each entry draws its own time, so that entries that
/// were read together, by this process or by others started with it, are not read again together.
pub(crate) const KEPT_MS: RangeInclusive<u64> = 600..=800;

/// The longest time that a read takes, unless the process is frozen.
pub(crate) const LONGEST_READ: Duration = Duration::from_millis(2500);

/// Values that this process has read and shows for a short time. Clones share them.
#[derive(Clone)]
pub(crate) struct Briefly<K, V> {
    read: FutureCache<K, Read<V>>,
    clock: Clock,
}

#[derive(Clone)]
struct Read<V> {
    value: V,
    at: Moment,
}

struct Failed<E> {
    error: Arc<E>,
    at: Moment,
}

struct Jittered;

impl<K, V> Expiry<K, V> for Jittered {
    fn expire_after_create(&self, _: &K, _: &V, _: std::time::Instant) -> Option<Duration> {
        Some(Duration::from_millis(rand::rng().random_range(KEPT_MS)))
    }
}

impl<K, V> Briefly<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(crate) fn new(most: u64, clock: Clock) -> Self {
        Self { read: FutureCache::builder().max_capacity(most).expire_after(Jittered).build(), clock }
    }

    /// The value of a key. Concurrent callers share one read. Fails if it must be read and cannot be.
    pub(crate) async fn get<E, F>(&self, key: &K, read: impl Fn() -> F) -> Result<V, Arc<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<V, E>>,
    {
        loop {
            // The process may freeze between an answer and its arrival.
            let now = Moment::now(self.clock);
            if let Some(Read { value, at }) = self.read.get(key).await {
                if holds(at, now) {
                    return Ok(value);
                }
                self.remove_if_old(key).await;
            }
            // Boxed: AWS calls make large futures, and most requests make none.
            let read = Box::pin(async {
                let read = read().await.map(|value| Read { value, at: now });
                read.map_err(|error| Failed { error: Arc::new(error), at: now })
            });
            let (result, at) = match self.read.try_get_with_by_ref(key, read).await {
                Ok(Read { value, at }) => (Ok(value), at),
                Err(failed) => (Err(Arc::clone(&failed.error)), failed.at),
            };
            // Another caller's read may have begun before a freeze.
            if now.since(at) <= LONGEST_READ {
                return result;
            }
        }
    }

    /// Removes a value that may not be used any more, unless somebody has read it again meanwhile.
    async fn remove_if_old(&self, key: &K) {
        let now = Moment::now(self.clock);
        let remove = |kept: Option<moka::Entry<K, Read<V>>>| {
            let is_old = kept.is_some_and(|kept| !holds(kept.value().at, now));
            ready(if is_old { Op::Remove } else { Op::Nop })
        };
        self.read.entry_by_ref(key).and_compute_with(remove).await;
    }

    pub(crate) async fn count(&self) -> u64 {
        self.read.run_pending_tasks().await;
        self.read.entry_count()
    }
}

/// Whether what was read at `at` may be used. The cache's own clock may stand still while Lambda freezes the process.
fn holds(at: Moment, now: Moment) -> bool {
    now.since(at) <= Duration::from_millis(*KEPT_MS.end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn entries_that_were_read_together_end_apart() {
        let kept = |_| Jittered.expire_after_create(&(), &(), std::time::Instant::now()).unwrap().as_millis() as u64;
        let kept: BTreeSet<u64> = (0..50).map(kept).collect();
        assert!(kept.len() > 1 && kept.iter().all(|ms| KEPT_MS.contains(ms)), "{kept:?}");
    }
}
