use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use sale::{EpochMs, Round, SaleId, UserId};
use stock::{Buyers, BuyersRead, COOLDOWN_MS, RoundStock, SoldOut, Stock, WinsSeen};

use super::sync::{ArcSwapOption, AsyncMutex, Instant, Moment, sleep, spawn};

const LASTS: Duration = Duration::from_millis(1000);
/// By how much, in percent, its time varies at random: processes that were told together must not ask again together.
const JITTER_PERCENT: u64 = 25;
/// Returned units are not sold before every mark has expired, even if two clocks differ in speed by some per cent.
const _: () = assert!(LASTS.as_millis() as u64 * (100 + JITTER_PERCENT) / 100 + 200 < COOLDOWN_MS as u64);

/// How many buyers are remembered at most: 80 KB for a round, and a few milliseconds of Redis to read them. A round
/// with more has no mark, and each request of its crowd costs a call.
const MOST_BUYERS: usize = 10_000;
/// How many names a process reads in a second, on average: a change in a round of 10,000 buyers is read every five
/// seconds. A thousand processes then read two million names a second from Redis.
const NAMES_PER_S: u32 = 2_000;
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
/// When a round with too many buyers is read again. It can only have fewer after Redis was loaded again.
const PAUSE_OF_TOO_MANY: Duration = Duration::from_secs(60);

/// Marks a round as sold out, and knows its buyers. While the mark is valid, everybody who is certainly not one of them
/// gets `sold_out` without a call to Redis.
///
/// A winner never gets it. Redis said at one time that nothing is left and when the last unit was won. The remembered
/// names are complete up to that win, so they include everybody who had won by then. Nobody can win while the mark is
/// valid, since the cooldown of returned units is longer (`COOLDOWN_MS`), and for a round with a plan Redis says when
/// the next units become available.
#[derive(Debug, Default)]
pub struct SoldOutMark {
    mark: ArcSwapOption<Mark>,
    names: Arc<ArcSwapOption<Names>>,
    /// When the names may be read again. Held while they are read.
    reading: Arc<AsyncMutex<Option<Instant>>>,
}

#[derive(Debug)]
struct Mark {
    asked: Moment,
    lasts: Duration,
    next_release_ms: Option<EpochMs>,
    buyers: Arc<Names>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillSoldOut {
    /// When the next units become available, if more do.
    pub next_release_ms: Option<EpochMs>,
}

/// The names of a round's buyers, as hashes. A user whose hash equals a buyer's is taken for one, and Redis is asked.
#[derive(Debug)]
struct Names {
    wins: WinsSeen,
    seed: RandomState,
    /// Sorted.
    hashes: Vec<u64>,
}

impl Names {
    fn of(buyers: &Buyers) -> Self {
        let seed = RandomState::new();
        let mut hashes: Vec<u64> = buyers.names.iter().map(|name| seed.hash_one(name.as_str())).collect();
        hashes.sort_unstable();
        Self { wins: buyers.wins, seed, hashes }
    }

    fn may_have(&self, user: &UserId) -> bool {
        self.hashes.binary_search(&self.seed.hash_one(user.as_str())).is_ok()
    }
}

impl SoldOutMark {
    /// Records that Redis, asked at `asked`, said that nobody can get a unit for a while.
    ///
    /// Marks the round if the names of its buyers are known. Otherwise they are read in the background.
    pub fn heard(&self, stock: &Stock, round: &Round, asked: Moment, sold_out: SoldOut) {
        if !self.mark(asked, sold_out) {
            self.read_beside(|| {
                let (stock, id, lanes) = (stock.clone(), round.id.clone(), round.terms.lanes);
                async move { read(stock.round_in(&id, lanes), &id.sale).await }
            });
        }
    }

    /// The answer for the user without asking Redis, if the mark is valid and the user has certainly won nothing.
    pub fn covers(&self, user: &UserId, now: Moment) -> Option<StillSoldOut> {
        let mark = self.mark.load();
        let mark = mark.as_ref()?;
        // A clock that goes back is not trusted.
        let stands = now.checked_since(mark.asked).is_some_and(|since| since < mark.lasts);
        let next_release_ms = mark.next_release_ms;
        (stands && !mark.buyers.may_have(user)).then_some(StillSoldOut { next_release_ms })
    }

    /// Marks the round, if the names of its buyers are known up to the win that Redis named.
    pub(crate) fn mark(&self, asked: Moment, SoldOut { wins, lasts, next_release_ms }: SoldOut) -> bool {
        let names = self.names.load_full().filter(|names| names.wins == wins);
        let Some(buyers) = names else { return false };
        let percent = rand::random_range(100 - JITTER_PERCENT..=100 + JITTER_PERCENT);
        let lasts = lasts.min(LASTS * percent as u32 / 100);
        self.mark.store(Some(Arc::new(Mark { asked, lasts, next_release_ms, buyers })));
        true
    }

    /// Starts a task that reads the buyers, unless one is running or just ran. `read` also says how long to pause.
    pub(crate) fn read_beside<F>(&self, read: impl FnOnce() -> F)
    where
        F: Future<Output = (Option<Buyers>, Duration)> + Send + 'static,
    {
        let Ok(mut again_at) = Arc::clone(&self.reading).try_lock_owned() else { return };
        if again_at.is_some_and(|at| Instant::now() < at) {
            return;
        }
        // Set before the read, so that a read that is cut off does not start again at once.
        *again_at = Some(Instant::now() + SHORTEST_PAUSE);
        let (names, reading) = (Arc::clone(&self.names), read());
        spawn(async move {
            let (buyers, pause) = reading.await;
            if let Some(buyers) = buyers {
                names.store(Some(Arc::new(Names::of(&buyers))));
            }
            *again_at = Some(Instant::now() + pause.max(SHORTEST_PAUSE));
        });
    }
}

/// Reads the buyers of a round, if there are not too many, and returns how long to pause.
async fn read(round: RoundStock<'_>, sale: &SaleId) -> (Option<Buyers>, Duration) {
    // All processes see the last unit go at once: their reads are spread over the time that so many names take.
    let count = round.buyers_count().await.unwrap_or_default();
    let worth = Duration::from_secs(1) * count / NAMES_PER_S;
    sleep(worth.mul_f64(rand::random())).await;
    match round.buyers(MOST_BUYERS).await {
        Ok(BuyersRead::All(buyers)) => {
            let names = u32::try_from(buyers.names.len()).unwrap_or(u32::MAX);
            (Some(buyers), Duration::from_secs(1) * names / NAMES_PER_S)
        }
        Ok(BuyersRead::TooMany) => (None, PAUSE_OF_TOO_MANY),
        Ok(BuyersRead::NotSoldOut) => (None, SHORTEST_PAUSE),
        Err(error) => {
            tracing::debug!(error = &error as &dyn std::error::Error, sale_id = %sale, "no sold-out mark");
            (None, SHORTEST_PAUSE)
        }
    }
}

#[cfg(test)]
mod tests {
    use runtime::Clock;

    use super::*;

    const WON: EpochMs = EpochMs(1_000_000);
    const FOR: Duration = Duration::from_millis(COOLDOWN_MS as u64);

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    /// A mark that knows that only alice had won by this time.
    fn knowing(last_won_at_ms: EpochMs) -> SoldOutMark {
        let mark = SoldOutMark::default();
        let buyers = Buyers { wins: WinsSeen::at(last_won_at_ms), names: vec!["alice".to_owned()] };
        mark.names.store(Some(Arc::new(Names::of(&buyers))));
        mark
    }

    fn said(last_won_at_ms: EpochMs, lasts: Duration) -> SoldOut {
        SoldOut { wins: WinsSeen::at(last_won_at_ms), lasts, next_release_ms: None }
    }

    fn now() -> Moment {
        Moment::now(Clock::system())
    }

    /// When Redis was asked, and later times by either clock.
    fn asked() -> (Moment, impl Fn(u64, i64) -> Moment) {
        let (monotonic, wall) = (tokio::time::Instant::now(), WON);
        let later = move |monotonic_ms, wall_ms| {
            Moment::of(monotonic + Duration::from_millis(monotonic_ms), EpochMs(wall.0 + wall_ms))
        };
        (later(0, 0), later)
    }

    #[test]
    fn nothing_is_covered_before_redis_says_so_and_the_buyers_are_known() {
        let mark = SoldOutMark::default();
        assert!(mark.covers(&user("bob"), now()).is_none());
        assert!(!mark.mark(now(), said(WON, FOR)));
        assert!(mark.covers(&user("bob"), now()).is_none());
        assert!(knowing(WON).covers(&user("bob"), now()).is_none());
    }

    #[test]
    fn it_covers_everybody_but_the_buyers() {
        let mark = knowing(WON);
        assert!(mark.mark(now(), said(WON, FOR)));
        assert!(mark.covers(&user("bob"), now()).is_some());
        assert!(mark.covers(&user("alice"), now()).is_none());
    }

    #[test]
    fn buyers_as_of_another_win_are_of_no_use() {
        for won in [WON.0 - 1, WON.0 + 1] {
            assert!(!knowing(WON).mark(now(), said(EpochMs(won), FOR)));
        }
    }

    #[test]
    fn it_ends_by_itself_by_either_clock() {
        let (mark, (asked, later)) = (knowing(WON), asked());
        for _ in 0..100 {
            mark.mark(asked, said(WON, FOR));
            for at in [later(0, 0), later(749, 749)] {
                assert!(mark.covers(&user("bob"), at).is_some());
            }
            for over in [later(1250, 0), later(0, 1250), later(1250, 1250)] {
                assert!(mark.covers(&user("bob"), over).is_none(), "a frozen process's clock may stand still");
            }
            assert!(mark.covers(&user("bob"), later(0, -1)).is_none(), "a clock that goes back is not trusted");
        }
    }

    #[test]
    fn it_never_lasts_longer_than_redis_said() {
        let (mark, (asked, later)) = (knowing(WON), asked());
        mark.mark(asked, said(WON, Duration::from_millis(20)));
        assert!(mark.covers(&user("bob"), later(19, 19)).is_some());
        assert!(mark.covers(&user("bob"), later(20, 20)).is_none());
    }

    #[test]
    fn it_ends_with_the_next_drop_and_says_when_that_is() {
        let (mark, (asked, later)) = (knowing(WON), asked());
        let next_release_ms = Some(EpochMs(WON.0 + 300));
        mark.mark(asked, SoldOut { wins: WinsSeen::at(WON), lasts: Duration::from_millis(300), next_release_ms });
        assert_eq!(mark.covers(&user("bob"), later(299, 299)), Some(StillSoldOut { next_release_ms }));
        assert_eq!(mark.covers(&user("bob"), later(300, 300)), None);
    }
}
