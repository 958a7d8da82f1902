//! Operators watch a round, and some stop waiting.
//! Sources: shared/process/src/watched.rs

use std::collections::BTreeSet;

use super::watched::Watched;
use crate::prelude::*;

const TAKES: Duration = Duration::from_secs(1); // How long a read takes.
const RESTS: Duration = Duration::from_secs(9); // How long after it the ledger is left alone.
/// How long after any read another one may begin: ten times the longest.
const LONGEST: Duration = Duration::from_secs(50);

/// The ledger has one more paid order at each read.
#[derive(Default)]
struct Ledger {
    reading: UnderWay,
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
        let paid = self.reading.times() + 1;
        let read = || {
            pass(TAKES);
            let new = (0..paid).filter(|order| known.insert(*order)).count();
            self.orders.fetch_add(new as u32, Relaxed);
        };
        self.reading.alone("one reads a round for all", read).await;
        Ok(paid)
    }
}

fn state() -> Arc<(Orders, Ledger)> {
    Arc::new((Orders::new(Clock), Ledger::default()))
}

async fn read((orders, ledger): &(Orders, Ledger)) -> Option<u32> {
    orders.of_round(&lamps(), async |known| ledger.read(known).await).await
}

/// Three ask at once. One read is made for all of them, unless one was given up.
// Mistake: a round is looked up in one step and kept in another.
// - let known = self.rounds.get_with_by_ref(round, Arc::default);
// + let known = self.rounds.get(round).unwrap_or_default();
// + self.rounds.insert(round.clone(), Arc::clone(&known));
// Mistake: a caller decides to read before it waits for another's read.
// - let mut known = known.lock().await;
// + let rest = known.lock().await.rest;
// + let start = Moment::now(self.clock);
// + let is_due = rest.is_none_or(|(since, pause)| start.since(since) >= pause);
// + let mut known = known.lock().await;
// - if rest.is_none_or(|(since, pause)| start.since(since) >= pause) {
// + if is_due {
pub fn one_reads_a_round_for_all() {
    let (state, began) = (state(), Instant::now());
    at_once(&state, 3, async |state, _| read(state).await);
    let ledger = &state.1;
    assert_eq!(ledger.reading.times(), 1, "one reads a round for all");
    pass((TAKES + RESTS).saturating_sub(began.elapsed()));
    let again = block_on(read(&state));
    assert!(ledger.reading.times() == 2 || again.is_none(), "it is read again");
}

/// Two ask and may give up during their reads. The orders that a read found paid are not read again.
// Mistake: what a round's reads remember is lost when one is cut off.
// - let read = timeout(self.clock.limit(READ_TIMEOUT), read(remembered)).await;
// + let mut taken = std::mem::take(remembered);
// + let read = timeout(self.clock.limit(READ_TIMEOUT), read(&mut taken)).await;
// + *remembered = taken;
pub fn what_is_final_is_not_read_again() {
    let state = state();
    at_once(&state, 2, async |state, _| {
        until_given_up(read(state)).await;
        pass(LONGEST);
    });
    let ledger = &state.1;
    while block_on(read(&state)) != Some(ledger.reading.times()) {
        pass(LONGEST);
    }
    assert_eq!(ledger.orders.load(Relaxed), ledger.reading.times(), "what is final is not read again");
}

/// Three ask at once and may give up. Whatever became of the first read, the ledger rests, a freeze included.
// Mistake: a read that is given up is made again at once.
// - *rest = Some((start, READ_TIMEOUT * (1 + REST)));
// Mistake "it is read again": the rest lasts until the process has run for so long.
// - let start = Moment::now(self.clock);
// + let clock = sale::EpochMs(self.clock.now().0.min(0));
// + let start = Moment::of(super::sync::Instant::now(), clock);
// - let end = Moment::now(self.clock);
// + let end = Moment::of(super::sync::Instant::now(), clock);
pub fn the_ledger_rests_after_each_read() {
    for is_frozen in [false, true] {
        let state = state();
        at_once(&state, 3, async |state, _| {
            until_given_up(read(state)).await;
        });
        let ledger = &state.1;
        assert!(ledger.reading.times() <= 1, "the ledger rests after each read");
        if is_frozen {
            set_wall_clock(LONGEST.as_millis() as i64);
        } else {
            pass(LONGEST);
        }
        let before = ledger.reading.times();
        block_on(read(&state));
        assert_eq!(ledger.reading.times(), before + 1, "it is read again");
    }
}
