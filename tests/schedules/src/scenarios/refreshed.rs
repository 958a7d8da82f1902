//! Requests share a value that is refreshed as it is used.
//! Sources: shared/runtime/src/cache/refreshed.rs

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
    reading: UnderWay,
}

impl Source {
    fn new() -> (Arc<Self>, Refreshed<u32, Away>) {
        let source = Arc::<Self>::default();
        let of = Arc::clone(&source);
        let refreshed = Refreshed::new("the last one holds", BOUNDS, Clock, move |_| Box::pin(Arc::clone(&of).read()));
        (source, refreshed)
    }

    async fn read(self: Arc<Self>) -> Result<u32, Away> {
        let read = self.reading.alone("one task reads", || self.version.load(Relaxed)).await;
        if self.is_away.load(Relaxed) { Err(Away) } else { Ok(read) }
    }

    fn set(&self, version: u32) {
        step();
        self.version.fetch_max(version, Relaxed);
    }
}

/// Three requests come before there is a value. They share one reading, unless one took too long.
// Mistake "one task reads": a request that has to wait for a reading starts one.
// - let _reading = self.0.reading.lock().await;
// - let now
// + let _ = self.0.reading.lock().await;
// + let now
// Mistake "one reading serves all": a request that waited for a reading starts another.
// - if let Some(value) = self.0.no_older_than(oldest, now) {
// + if let Some(value) = self.0.no_older_than(Duration::ZERO.min(oldest), now) {
pub fn one_reading_serves_all_who_wait() {
    let state = Arc::new(Source::new());
    let served = at_once(&state, 3, async |(_, refreshed), _| refreshed.get().await.is_ok());
    let failed = served.into_iter().filter(|served| !served).count();
    assert!(state.0.reading.times() <= 1 + failed as u32, "one reading serves all who wait");
}

/// Three requests come when the value is no longer fresh. None waits, and it is read again once, unless that took too long.
// Mistake: a background reading starts although another has just ended.
// - if self.0.no_older_than(self.0.bounds.fresh, now).is_some() ||
// + if self.0.no_older_than(Duration::ZERO, now).is_some() ||
// Mistake "one task reads": the lock is released before the background reading has ended.
// - let inner = Arc::clone(&self.0);
// + let inner = Arc::clone(&self.0);
// + drop(reading);
// - drop(reading);
// - });
// + });
pub fn one_task_reads_it_again() {
    let state = Arc::new(Source::new());
    let wait_for_it = async |(_, refreshed): &(Arc<Source>, Refreshed<u32, Away>), _: usize| {
        while refreshed.last().is_none() {
            yield_now().await;
        }
        refreshed.get().await.unwrap();
    };
    let (_, before) = at_once_and(&state, 3, wait_for_it, async |(source, refreshed)| {
        while refreshed.refresh().await.is_err() {}
        let before = source.reading.times();
        pass(BOUNDS.fresh);
        source.set(1);
        before
    });
    assert!(state.0.reading.times() <= before + 1, "one task reads it again");
}

/// The value is too old to use. A request waits for a new reading and may be dropped; the reading continues.
// Mistake: a caller that gives up ends the reading.
// - let reading = spawn(async move {
// + let reading = Box::pin(async move {
pub fn a_reading_outlives_its_caller() {
    let (source, refreshed) = Source::new();
    block_on(async {
        while refreshed.refresh().await.is_err() {}
        pass(BOUNDS.usable);
        source.set(1);
        let before = source.reading.times();
        until_given_up(refreshed.get()).await;
        while source.reading.now() > 0 {
            yield_now().await;
        }
        if source.reading.times() == before {
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
    let state = Arc::new((source, refreshed, AtomicU32::new(0)));
    at_once(&state, 3, async |(source, refreshed, newest), number| {
        if number == 0 {
            source.is_away.store(true, Relaxed);
        }
        for _ in 0..2 {
            let before = newest.load(Relaxed);
            if let Some(Ok(value)) = until_given_up(refreshed.get()).await {
                assert!(*value >= before, "it never goes back");
                newest.fetch_max(*value, Relaxed);
            }
            source.set(number as u32 + 1);
            pass(BOUNDS.usable);
        }
        source.is_away.store(false, Relaxed);
    });
    block_on(async {
        let (source, refreshed, _) = &*state;
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
