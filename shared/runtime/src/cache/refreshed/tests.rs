use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("away")]
struct Away;

const READS_FOR: Duration = Duration::from_millis(100);
const BOUNDS: Bounds = Bounds {
    fresh: Duration::from_secs(2),
    usable: Duration::from_secs(5),
    held: Duration::from_secs(60),
    read_timeout: Duration::from_secs(2),
    wait: Duration::from_secs(1),
    retry_after: Duration::from_secs(1),
    first_retry_after: Duration::from_secs(1),
}
.checked();

/// What is read, how long a read takes, and how many there were.
#[derive(Clone)]
struct Source(Arc<StdMutex<(Option<u32>, Duration, u32)>>);

impl Source {
    fn with(value: u32) -> (Self, Refreshed<u32, Away>) {
        Self::at(Clock::system(), value)
    }

    fn at(clock: Clock, value: u32) -> (Self, Refreshed<u32, Away>) {
        let source = Self(Arc::new(StdMutex::new((Some(value), READS_FOR, 0))));
        let of = source.clone();
        let refreshed = Refreshed::new("the last one holds", BOUNDS, clock, move |_| {
            let (value, takes) = {
                let mut source = of.0.lock().unwrap();
                source.2 += 1;
                (source.0, source.1)
            };
            Box::pin(async move {
                tokio::time::sleep(takes).await;
                value.ok_or(Away)
            })
        });
        (source, refreshed)
    }

    fn set(&self, value: Option<u32>) {
        self.0.lock().unwrap().0 = value;
    }

    fn takes(&self, takes: Duration) {
        self.0.lock().unwrap().1 = takes;
    }

    fn readings(&self) -> u32 {
        self.0.lock().unwrap().2
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_held_for_a_while_and_tried_once_in_a_pause() {
    let (source, refreshed) = Source::with(1);
    refreshed.get().await.unwrap();
    source.set(None);
    pass(6).await;
    for _ in 0..10 {
        assert_eq!(*refreshed.get().await.unwrap(), 1);
    }
    assert_eq!(source.readings(), 2);
    // Calls keep coming: nobody waits, and one read a second is tried.
    for readings in 3..=6 {
        pass(2).await;
        let began = tokio::time::Instant::now();
        assert_eq!(*refreshed.get().await.unwrap(), 1);
        assert!(began.elapsed() < READS_FOR);
        tokio::time::sleep(READS_FOR * 2).await;
        assert_eq!(source.readings(), readings);
    }
    pass(60).await;
    assert!(matches!(refreshed.get().await, Err(RefreshError::Read(Away))), "not for ever");
    assert!(matches!(refreshed.get().await, Err(RefreshError::JustFailed)), "not again at once");
    source.set(Some(2));
    pass(1).await;
    assert_eq!(*refreshed.get().await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_reading_that_fails_does_not_begin_another() {
    let (source, refreshed) = Source::with(1);
    source.set(None);
    let all = tokio::join!(refreshed.get(), refreshed.get(), refreshed.get());
    assert!(matches!(all, (Err(RefreshError::Read(Away)), Err(RefreshError::JustFailed), Err(_))), "{all:?}");
    assert_eq!(source.readings(), 1);
}

/// Its connection was lost meanwhile, for example. Only the wall clock shows that time has passed.
#[tokio::test(start_paused = true)]
async fn a_reading_that_a_freeze_interrupts_says_nothing_about_now() {
    for frozen_s in [30, 3600] {
        let moved_ms: &AtomicI64 = Box::leak(Box::default());
        let (source, refreshed) = Source::at(Clock::moved_by_ms(moved_ms), 1);
        refreshed.get().await.unwrap();
        pass(3).await;
        source.set(None);
        assert_eq!(*refreshed.get().await.unwrap(), 1);
        tokio::time::sleep(READS_FOR / 2).await;
        assert_eq!(source.readings(), 2, "it is being read");
        source.set(Some(2));
        moved_ms.store(frozen_s * 1000, Ordering::Relaxed);
        assert_eq!(*refreshed.get().await.unwrap(), 2, "after {frozen_s} s");
        assert_eq!(source.readings(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_long_if_there_is_a_value() {
    let (source, refreshed) = Source::with(1);
    refreshed.get().await.unwrap();
    source.set(Some(2));
    source.takes(Duration::from_millis(1500));
    pass(6).await;
    let began = tokio::time::Instant::now();
    let both = tokio::join!(refreshed.get(), refreshed.get());
    assert_eq!((*both.0.unwrap(), *both.1.unwrap()), (1, 1));
    assert!(began.elapsed() < Duration::from_millis(1100), "{:?}", began.elapsed());
    pass(1).await;
    assert_eq!((*refreshed.get().await.unwrap(), source.readings()), (2, 2), "the reading went on");
}

#[tokio::test(start_paused = true)]
async fn a_reading_that_takes_too_long_has_failed() {
    let (source, refreshed) = Source::with(1);
    source.takes(Duration::from_secs(3));
    assert!(matches!(refreshed.get().await, Err(RefreshError::TimedOut)));
    source.takes(READS_FOR);
    pass(2).await;
    assert_eq!(*refreshed.get().await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_value_can_be_asked_for_that_is_younger_than_usual() {
    let (source, refreshed) = Source::with(1);
    refreshed.get().await.unwrap();
    source.set(Some(2));
    pass(1).await;
    assert_eq!(*refreshed.get().await.unwrap(), 1);
    assert_eq!(*refreshed.no_older_than(Duration::from_secs(3)).await.unwrap(), 1);
    assert_eq!(*refreshed.no_older_than(Duration::from_secs(1)).await.unwrap(), 2);
    source.set(Some(3));
    assert_eq!(*refreshed.refresh().await.unwrap(), 3);
    assert_eq!(*refreshed.last().unwrap(), 3);
    assert_eq!(source.readings(), 3);
}
