//! Buyers ask about a sold-out round while a returned unit is sold again.
//! Sources: shared/process/src/sold_out_mark.rs

use std::sync::{Mutex, MutexGuard};

use stock::{Buyers, COOLDOWN_MS, SoldOut, WinsSeen};

use super::sold_out_mark::SoldOutMark;
use crate::prelude::*;
use crate::sync::WallClock;

const COOLDOWN: Duration = Duration::from_millis(COOLDOWN_MS as u64);

/// One unit: its buyers in order, and when it is for sale again.
#[derive(Default)]
struct Redis {
    unit: Mutex<(Vec<&'static str>, Option<Instant>)>,
    reading: UnderWay,
}

impl Redis {
    fn buyers(&self) -> Vec<&'static str> {
        step();
        self.unit().0.clone()
    }

    fn sell_to(&self, name: &'static str) {
        step();
        let mut unit = self.unit();
        unit.0.push(name);
        unit.1 = None;
    }

    /// Redis's answer to a buyer who wins nothing: sold out for a while, unless the unit is for sale.
    fn say(&self) -> Option<SoldOut> {
        let now = Instant::now();
        let unit = self.unit();
        let lasts = unit.1.map_or(COOLDOWN, |cooldown_until| cooldown_until.saturating_duration_since(now));
        (!lasts.is_zero()).then(|| SoldOut { wins: wins(&unit.0), lasts, next_release_ms: None })
    }

    fn unit(&self) -> MutexGuard<'_, (Vec<&'static str>, Option<Instant>)> {
        self.unit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(self: Arc<Self>) -> (Option<Buyers>, Duration) {
        let buyers = self.reading.alone("one task reads the names", || self.buyers()).await;
        let names = buyers.iter().map(|name| (*name).to_owned()).collect();
        (Some(Buyers { wins: wins(&buyers), names }), Duration::ZERO)
    }
}

type State = (SoldOutMark, Arc<Redis>);

fn wins(buyers: &[&str]) -> WinsSeen {
    WinsSeen::at(EpochMs(buyers.len() as i64))
}

fn now() -> Moment {
    Moment::now(WallClock)
}

/// Alice has the unit. It comes back and, after its cooldown, goes to carol. Others keep asking, and both winners check
/// whether the mark would turn them away.
// Mistake: the buyers' names may be older than the last win.
// - .filter(|names| names.wins == wins)
// + .filter(|names| names.wins == wins || !names.hashes.is_empty())
pub fn no_winner_hears_that_all_is_sold() {
    let state = Arc::<State>::default();
    state.1.sell_to("alice");
    const WINNERS: [&str; 2] = ["alice", "carol"];
    let asks_or_wins = async |state: &State, number: usize| {
        let (mark, redis) = state;
        let Some(name) = WINNERS.get(number) else {
            for _ in 0..3 {
                ask(state).await;
            }
            return;
        };
        for _ in 0..4 {
            let has_won = redis.buyers().contains(name);
            let hears = mark.covers(&name.parse().unwrap(), now());
            assert!(!has_won || hears.is_none(), "no winner hears that all is sold");
            yield_now().await;
        }
    };
    at_once_and(&state, 4, asks_or_wins, async |(_, redis)| {
        redis.unit().1 = Some(Instant::now() + COOLDOWN);
        yield_now().await;
        pass(COOLDOWN);
        redis.sell_to("carol");
    });
}

/// A buyer comes and wins nothing.
async fn ask((mark, redis): &State) {
    let asked = now();
    yield_now().await;
    let Some(said) = redis.say() else { return };
    yield_now().await;
    if !mark.mark(asked, said) {
        let redis = Arc::clone(redis);
        mark.read_beside(|| redis.read());
    }
}

/// Several ask while the winners are unknown, and seconds pass. Then the round is marked.
// Mistake: the lock is released before the names are read.
// - *again_at = Some(Instant::now() + pause.max(SHORTEST_PAUSE));
// + let _ = pause;
pub fn one_task_reads_the_names() {
    let state = Arc::<State>::default();
    state.1.sell_to("alice");
    at_once(&state, 3, async |state, _| {
        ask(state).await;
        pass(COOLDOWN);
    });
    block_on(async {
        let began = Instant::now();
        while state.0.covers(&"bob".parse().unwrap(), now()).is_none() {
            assert!(began.elapsed() < COOLDOWN * 20, "the round is marked");
            ask(&state).await;
            pass(COOLDOWN / 10);
            yield_now().await;
        }
    });
}
