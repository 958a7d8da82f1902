//! Requests share a value that is refreshed as it is used.

use super::refreshed::{Bounds, Refreshed};
use crate::prelude::*;

const BOUNDS: Bounds = Bounds {
    fresh: Duration::from_secs(2),
    usable: Duration::from_secs(5),
    held: Duration::from_secs(60),
    read_timeout: Duration::from_secs(2),
    wait: Duration::from_secs(1),
    retry_after: Duration::from_secs(1),
    first_retry_after: Duration::ZERO,
}
.checked();

/// The source could not be read.
#[derive(Debug, thiserror::Error)]
#[error("away")]
struct Away;

#[derive(Default)]
struct Source {
    version: AtomicU32,
    is_away: AtomicBool,
    reading: OneAtATime,
    readings: AtomicU32,
}

impl Source {
    fn new() -> (Arc<Self>, Refreshed<u32, Away>) {
        let source = Arc::<Self>::default();
        let of = Arc::clone(&source);
        let refreshed = Refreshed::new("the last one holds", BOUNDS, Clock, move |_| Box::pin(Arc::clone(&of).read()));
        (source, refreshed)
    }

    async fn read(self: Arc<Self>) -> Result<u32, Away> {
        let reading = self.reading.begin("one task reads");
        self.readings.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        let read = self.version.load(Ordering::Relaxed);
        yield_now().await;
        drop(reading);
        if self.is_away.load(Ordering::Relaxed) { Err(Away) } else { Ok(read) }
    }

    fn set(&self, version: u32) {
        step();
        self.version.fetch_max(version, Ordering::Relaxed);
    }

    fn readings(&self) -> u32 {
        self.readings.load(Ordering::Relaxed)
    }
}

/// Three requests come before there is a value. They share one reading, unless one took too long.
pub fn one_reading_serves_all_who_wait() {
    let (source, refreshed) = Source::new();
    let requests = [(); 3].map(|()| {
        let refreshed = refreshed.clone();
        spawn(async move { refreshed.get().await.is_ok() })
    });
    block_on(async {
        let mut served = 0;
        for request in requests {
            served += u32::from(request.await.unwrap());
        }
        let failed = 3 - served;
        assert!(source.readings() <= 1 + failed, "one reading serves all who wait");
    });
}

/// Three requests come when the value is no longer fresh. None waits, and it is read again once, unless that took too long.
pub fn one_task_reads_it_again() {
    let (source, refreshed) = Source::new();
    let requests = [(); 3].map(|()| {
        let refreshed = refreshed.clone();
        spawn(async move {
            while refreshed.last().is_none() {
                yield_now().await;
            }
            refreshed.get().await.unwrap();
        })
    });
    block_on(async {
        while refreshed.refresh().await.is_err() {}
        let before = source.readings();
        pass(BOUNDS.fresh);
        source.set(1);
        all(requests).await;
        assert!(source.readings() <= before + 1, "one task reads it again");
    });
}

/// The value is too old to use. A request waits for a new reading and may be dropped; the reading continues.
pub fn a_reading_outlives_its_caller() {
    let (source, refreshed) = Source::new();
    block_on(async {
        while refreshed.refresh().await.is_err() {}
        pass(BOUNDS.usable);
        source.set(1);
        let before = source.readings();
        until_given_up(refreshed.get()).await;
        while source.reading.is_being_done() {
            yield_now().await;
        }
        if source.readings() == before {
            return;
        }
        // The new value, or the old one if the reading took too long.
        let mut looks = 0;
        while refreshed.at_hand(Moment::now(Clock)).is_none() {
            looks += 1;
            assert!(looks < 200, "a reading outlives its caller");
            yield_now().await;
        }
    });
}

/// Requests come and are dropped while the value changes and time passes. No request gets an older value than one before it,
/// and once all is quiet the next request gets the current value.
pub fn it_never_goes_back_and_nobody_is_stuck() {
    let (source, refreshed) = Source::new();
    let newest = Arc::<AtomicU32>::default();
    let requests: Vec<_> = (0..3)
        .map(|number| {
            let (source, refreshed, newest) = (Arc::clone(&source), refreshed.clone(), Arc::clone(&newest));
            spawn(async move {
                if number == 0 {
                    source.is_away.store(true, Ordering::Relaxed);
                }
                for _ in 0..2 {
                    let before = newest.load(Ordering::Relaxed);
                    if let Some(Ok(value)) = until_given_up(refreshed.get()).await {
                        assert!(*value >= before, "it never goes back");
                        newest.fetch_max(*value, Ordering::Relaxed);
                    }
                    source.set(number + 1);
                    pass(BOUNDS.usable);
                }
                source.is_away.store(false, Ordering::Relaxed);
            })
        })
        .collect();
    block_on(async {
        all(requests).await;
        source.set(9);
        pass(BOUNDS.held);
        let mut tries = 0;
        while *refreshed.get().await.unwrap_or_default() != 9 {
            tries += 1;
            assert!(tries < 100, "nobody is stuck");
            pass(BOUNDS.usable);
            yield_now().await;
        }
    });
}
