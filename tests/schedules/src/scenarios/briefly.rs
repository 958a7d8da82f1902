//! Requests show the catalog, while it changes and while the process is frozen.

use super::briefly::Briefly;
use crate::prelude::*;

/// How long the process is frozen.
const FROZEN_MS: i64 = 60_000;

/// What is published, by the number of its changes.
#[derive(Default)]
struct Ledger {
    version: AtomicU32,
    reading: OneAtATime,
    reads: AtomicU32,
}

type Shelf = Briefly<(), u32>;

impl Ledger {
    async fn read(&self) -> Result<u32, ()> {
        let reading = self.reading.begin("one reads for all");
        self.reads.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        let version = self.version.load(Ordering::Relaxed);
        // The answer is on its way.
        yield_now().await;
        drop(reading);
        Ok(version)
    }
}

/// Freezes the process at some moment of these requests. Meanwhile what is published changes.
fn freeze(ledger: &Ledger, requests: [JoinHandle<()>; 2]) {
    block_on(async {
        yield_now().await;
        set_wall_clock(FROZEN_MS);
        ledger.version.store(1, Ordering::Relaxed);
        all(requests).await;
    });
}

async fn show(shelf: &Shelf, ledger: &Ledger) -> u32 {
    shelf.get(&(), || ledger.read()).await.unwrap()
}

/// Three ask at once, and one of them may give up. Another one reads only if that one was reading.
pub fn one_reads_for_all() {
    let (shelf, ledger) = (Shelf::new(1, Clock), Arc::<Ledger>::default());
    let requests = [false, false, true].map(|may_give_up| {
        let (shelf, ledger) = (shelf.clone(), Arc::clone(&ledger));
        spawn(async move {
            let shown = show(&shelf, &ledger);
            if may_give_up { until_given_up(shown).await.is_none() } else { shown.await > 0 }
        })
    });
    block_on(async {
        let mut gave_up = 0;
        for request in requests {
            gave_up += u32::from(request.await.unwrap());
        }
        assert!(ledger.reads.load(Ordering::Relaxed) <= 1 + gave_up, "one reads for all");
        assert_eq!(shelf.count().await, 1, "it is cached");
    });
}

/// The catalog changes while the process is frozen, perhaps during a read. Requests after that show the change.
pub fn what_was_read_before_a_freeze_is_not_shown_after_it() {
    let (shelf, ledger) = (Shelf::new(1, Clock), Arc::<Ledger>::default());
    let requests = [(); 2].map(|()| {
        let (shelf, ledger) = (shelf.clone(), Arc::clone(&ledger));
        spawn(async move {
            let _ = until_given_up(show(&shelf, &ledger)).await;
            step();
            let is_changed = ledger.version.load(Ordering::Relaxed) == 1;
            assert!(
                show(&shelf, &ledger).await == 1 || !is_changed,
                "what was read before a freeze is not shown after it"
            );
        })
    });
    freeze(&ledger, requests);
}

/// The process freezes during a read, which then fails. Requests after that do not get its error.
pub fn a_failure_from_before_a_freeze_is_nobodys_after_it() {
    let (shelf, ledger) = (Shelf::new(1, Clock), Arc::<Ledger>::default());
    let requests = [(); 2].map(|()| {
        let (shelf, ledger) = (shelf.clone(), Arc::clone(&ledger));
        spawn(async move {
            let read = async || {
                let began = ledger.version.load(Ordering::Relaxed);
                let read = ledger.read().await?;
                if read == began { Ok(read) } else { Err(()) }
            };
            let _ = until_given_up(shelf.get(&(), read)).await;
            step();
            let is_changed = ledger.version.load(Ordering::Relaxed) == 1;
            let shown = shelf.get(&(), read).await;
            assert!(shown.is_ok() || !is_changed, "a failure from before a freeze is nobody's after it");
        })
    });
    freeze(&ledger, requests);
}

/// Something has been read before a freeze. After it, three ask at once.
pub fn one_reads_again_for_all() {
    let (shelf, ledger) = (Shelf::new(1, Clock), Arc::<Ledger>::default());
    block_on(show(&shelf, &ledger));
    set_wall_clock(FROZEN_MS);
    let requests = [(); 3].map(|()| {
        let (shelf, ledger) = (shelf.clone(), Arc::clone(&ledger));
        spawn(async move { show(&shelf, &ledger).await })
    });
    block_on(async {
        all(requests).await;
    });
    assert_eq!(ledger.reads.load(Ordering::Relaxed), 2, "one reads again for all");
}
