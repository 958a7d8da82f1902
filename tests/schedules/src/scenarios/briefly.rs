//! Requests show the catalog, while it changes and while the process is frozen.
//! Sources: functions/catalog/src/briefly.rs

use super::briefly::Briefly;
use crate::prelude::*;

/// How long the process is frozen.
const FROZEN_MS: i64 = 60_000;

/// What is published, by the number of its changes.
#[derive(Default)]
struct Ledger {
    version: AtomicU32,
    reading: UnderWay,
}

type Shelf = Briefly<(), u32>;

impl Ledger {
    async fn read(&self) -> Result<u32, ()> {
        Ok(self.reading.alone("one reads for all", || self.version.load(Relaxed)).await)
    }
}

fn state() -> Arc<(Shelf, Ledger)> {
    Arc::new((Shelf::new(1, Clock), Ledger::default()))
}

/// Freezes the process at some moment of two requests. Meanwhile what is published changes.
fn freeze_beside(request: impl AsyncFn(&(Shelf, Ledger), usize) + Copy + Send + 'static) {
    at_once_and(&state(), 2, request, async |(_, ledger)| {
        yield_now().await;
        set_wall_clock(FROZEN_MS);
        ledger.version.store(1, Relaxed);
    });
}

async fn show(shelf: &Shelf, ledger: &Ledger) -> u32 {
    shelf.get(&(), || ledger.read()).await.unwrap()
}

/// Three ask at once, and one of them may give up. Another one reads only if that one was reading.
// Mistake: a caller looks up the value in one step and keeps its own in another.
// - match self.read.try_get_with_by_ref(key, read).await {
// - Ok(Read { value, at }) => (Ok(value), at),
// + match read.await {
// + Ok(Read { value, at }) => {
// + self.read.insert(key.clone(), Read { value: value.clone(), at }).await;
// + (Ok(value), at)
// + }
pub fn one_reads_for_all() {
    let state = state();
    let gave_up = at_once(&state, 3, async |(shelf, ledger), number| {
        let shown = show(shelf, ledger);
        if number == 2 { until_given_up(shown).await.is_none() } else { shown.await > 0 }
    });
    let gave_up = gave_up.into_iter().map(u32::from).sum::<u32>();
    assert!(state.1.reading.times() <= 1 + gave_up, "one reads for all");
    assert_eq!(block_on(state.0.count()), 1, "it is cached");
}

/// The catalog changes while the process is frozen, perhaps during a read. Requests after that show the change.
// Mistake: a caller shows what another one read, whenever that began.
// - if now.since(at) <= LONGEST_READ {
// + if now.since(at) <= LONGEST_READ.max(Duration::MAX) {
// Mistake: the age of a value counts from the end of its read.
// - read().await.map(|value| Read { value, at: now })
// + read().await.map(|value| Read { value, at: Moment::now(self.clock) })
pub fn what_was_read_before_a_freeze_is_not_shown_after_it() {
    freeze_beside(async |(shelf, ledger), _| {
        let _ = until_given_up(show(shelf, ledger)).await;
        step();
        let is_changed = ledger.version.load(Relaxed) == 1;
        assert!(show(shelf, ledger).await == 1 || !is_changed, "what was read before a freeze is not shown after it");
    });
}

/// The process freezes during a read, which then fails. Requests after that do not get its error.
// Mistake "a failure from before a freeze is nobody's after it": a caller gets another one's failure, whenever that read began.
// - (Err(Arc::clone(&failed.error)), failed.at)
// + {
// + let _ = failed.at;
// + (Err(Arc::clone(&failed.error)), now)
// + }
pub fn a_failure_from_before_a_freeze_is_nobodys_after_it() {
    freeze_beside(async |(shelf, ledger), _| {
        let read = async || {
            let began = ledger.version.load(Relaxed);
            let read = ledger.read().await?;
            if read == began { Ok(read) } else { Err(()) }
        };
        let _ = until_given_up(shelf.get(&(), read)).await;
        step();
        let is_changed = ledger.version.load(Relaxed) == 1;
        let shown = shelf.get(&(), read).await;
        assert!(shown.is_ok() || !is_changed, "a failure from before a freeze is nobody's after it");
    });
}

/// Something has been read before a freeze. After it, three ask at once.
// Mistake: a caller that found an old value removes the new one that is there by now.
// - kept.is_some_and(|kept| !holds(kept.value().at, now));
// + kept.is_some_and(|kept| now.since(kept.value().at) <= Duration::MAX);
pub fn one_reads_again_for_all() {
    let state = state();
    block_on(show(&state.0, &state.1));
    set_wall_clock(FROZEN_MS);
    at_once(&state, 3, async |(shelf, ledger), _| show(shelf, ledger).await);
    assert_eq!(state.1.reading.times(), 2, "one reads again for all");
}
