//! Operators watch a round, and some stop waiting.

use std::collections::BTreeSet;

use super::watched::Watched;
use crate::prelude::*;

/// How long a read takes.
const TAKES: Duration = Duration::from_secs(1);
/// How long after it the ledger is left alone.
const RESTS: Duration = Duration::from_secs(9);
/// How long after any read another one may begin: ten times the longest.
const LONGEST: Duration = Duration::from_secs(50);

/// The ledger has one more paid order at each read.
#[derive(Default)]
struct Ledger {
    reading: OneAtATime,
    reads: AtomicU32,
    /// How many orders were read.
    orders: AtomicU32,
}

#[derive(Debug, thiserror::Error)]
#[error("away")]
struct Away;

type Orders = Watched<BTreeSet<u32>, u32>;

impl Ledger {
    /// Reads the paid orders that are not known yet. Returns how many there are.
    async fn read(&self, known: &mut BTreeSet<u32>) -> Result<u32, Away> {
        let reading = self.reading.begin("one reads a round for all");
        let paid = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        yield_now().await;
        pass(TAKES);
        for order in 0..paid {
            if known.insert(order) {
                self.orders.fetch_add(1, Ordering::Relaxed);
            }
        }
        yield_now().await;
        drop(reading);
        Ok(paid)
    }

    fn reads(&self) -> u32 {
        self.reads.load(Ordering::Relaxed)
    }
}

/// Three ask at once. One read is made for all of them, unless one was given up.
pub fn one_reads_a_round_for_all() {
    let (orders, ledger) = (Arc::new(Orders::new(Clock)), Arc::<Ledger>::default());
    let began = Instant::now();
    let operators = [(); 3].map(|()| {
        let (orders, ledger) = (Arc::clone(&orders), Arc::clone(&ledger));
        spawn(async move { orders.of_round(&round(), async |known| ledger.read(known).await).await })
    });
    block_on(async {
        all(operators).await;
        assert_eq!(ledger.reads(), 1, "one reads a round for all");
        pass((TAKES + RESTS).saturating_sub(began.elapsed()));
        let again = orders.of_round(&round(), async |known| ledger.read(known).await).await;
        assert!(ledger.reads() == 2 || again.is_none(), "it is read again");
    });
}

/// Two ask and may give up during their reads. The orders that a read found paid are not read again.
pub fn what_is_final_is_not_read_again() {
    let (orders, ledger) = (Arc::new(Orders::new(Clock)), Arc::<Ledger>::default());
    let operators = [(); 2].map(|()| {
        let (orders, ledger) = (Arc::clone(&orders), Arc::clone(&ledger));
        spawn(async move {
            until_given_up(orders.of_round(&round(), async |known| ledger.read(known).await)).await;
            pass(LONGEST);
        })
    });
    block_on(async {
        all(operators).await;
        while orders.of_round(&round(), async |known| ledger.read(known).await).await != Some(ledger.reads()) {
            pass(LONGEST);
        }
        assert_eq!(ledger.orders.load(Ordering::Relaxed), ledger.reads(), "what is final is not read again");
    });
}

/// Three ask at once and may give up. Whatever became of the first read, the ledger then rests, but no longer because the
/// process is frozen.
pub fn the_ledger_rests_after_each_read() {
    for is_frozen in [false, true] {
        let (orders, ledger) = (Arc::new(Orders::new(Clock)), Arc::<Ledger>::default());
        let operators = [(); 3].map(|()| {
            let (orders, ledger) = (Arc::clone(&orders), Arc::clone(&ledger));
            spawn(async move {
                until_given_up(orders.of_round(&round(), async |known| ledger.read(known).await)).await;
            })
        });
        block_on(async {
            all(operators).await;
            assert!(ledger.reads() <= 1, "the ledger rests after each read");
            if is_frozen {
                set_wall_clock(LONGEST.as_millis() as i64);
            } else {
                pass(LONGEST);
            }
            let before = ledger.reads();
            orders.of_round(&round(), async |known| ledger.read(known).await).await;
            assert_eq!(ledger.reads(), before + 1, "it is read again");
        });
    }
}

fn round() -> RoundId {
    RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(1) }
}
