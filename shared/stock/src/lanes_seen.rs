use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sale::RoundId;

use super::sync::{AsyncMutex, Mutex, MutexGuard, PoisonError};
use super::{Reserve, SoldOut, StockError};

/// How many rounds are remembered: rounds with several lanes are rare.
const MOST_ROUNDS: usize = 64;
/// How long a result is valid at most. The cooldown of returned units is longer.
const HOLDS: Duration = Duration::from_millis(1000);
/// How long it is remembered that lanes refused a buyer, or that one of them may have a unit; neither is exact.
const HOLDS_ABOUT: Duration = Duration::from_millis(250);

/// What this process has seen of rounds with several lanes. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct LanesSeen(Arc<Mutex<HashMap<RoundId, Arc<RoundSeen>>>>);

#[derive(Default)]
pub(crate) struct RoundSeen {
    sold_out: Mutex<Option<(Stamp, SoldOut)>>,
    /// The result of a search that found neither a unit nor that there is none. `None` if what is left is on its way, or
    /// a lane does not answer.
    refused: Mutex<Option<(Stamp, Option<Reserve>)>>,
    has_units: Mutex<Option<Stamp>>,
    /// The lane that last answered for the round's leases, if the first one does not.
    pub(crate) leases_from: Mutex<Option<(Stamp, u16)>>,
    /// Held by a request that searches the other lanes; the others wait for its result.
    pub(crate) searching: AsyncMutex<()>,
}

/// A time by two clocks, since either may have stood still while the process was frozen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp(Instant, SystemTime);

impl Stamp {
    pub(crate) fn now() -> Self {
        Self(Instant::now(), SystemTime::now())
    }

    /// Its age by the clock that shows more. `None` if a clock went back.
    pub(crate) fn age(self) -> Option<Duration> {
        Some(self.0.elapsed().max(self.1.elapsed().ok()?))
    }
}

impl LanesSeen {
    pub(crate) fn of(&self, round: &RoundId) -> Arc<RoundSeen> {
        let mut rounds = lock(&self.0);
        if let Some(seen) = rounds.get(round) {
            return Arc::clone(seen);
        }
        if rounds.len() >= MOST_ROUNDS {
            rounds.clear();
        }
        Arc::clone(rounds.entry(round.clone()).or_default())
    }

    /// Some lane of `lanes`, different from process to process.
    pub(crate) fn any_lane(&self, lanes: u16) -> u16 {
        if lanes <= 1 {
            return 0;
        }
        // Each process has a differently seeded hasher.
        let number = lock(&self.0).hasher().hash_one(0);
        (number % u64::from(lanes)) as u16
    }
}

impl RoundSeen {
    /// That nobody can get a unit, if that was found a moment ago, and for how much longer.
    pub(crate) fn sold_out(&self) -> Option<SoldOut> {
        let (found_at, sold_out) = (*lock(&self.sold_out))?;
        let age = found_at.age().filter(|age| *age < HOLDS)?;
        let lasts = sold_out.lasts.checked_sub(age).filter(|left| !left.is_zero())?;
        Some(SoldOut { lasts, ..sold_out })
    }

    /// Remembers that nobody could get a unit at `at`.
    pub(crate) fn note_sold_out(&self, at: Stamp, sold_out: SoldOut) {
        *lock(&self.sold_out) = Some((at, sold_out));
        *lock(&self.has_units) = None;
    }

    /// The answer for a request that came at `came_at` and found nothing at home: that nobody can get a unit; the
    /// result of a search that ended since; or a refusal of a moment before.
    fn told_since(&self, came_at: Stamp) -> Option<Result<Reserve, StockError>> {
        if let Some(sold_out) = self.sold_out() {
            return Some(Ok(Reserve::SoldOut(sold_out)));
        }
        let (found_at, refused) = lock(&self.refused).clone()?;
        let is_sure = matches!(refused, Some(Reserve::Paused | Reserve::Closed));
        let holds = found_at.0 >= came_at.0 || is_sure && found_at.age().is_some_and(|age| age < HOLDS_ABOUT);
        holds.then(|| refused.ok_or(StockError::OnTheWay))
    }

    /// Searches with `search`. If a search is under way, waits for its result, or tries `at_home` again before.
    pub(crate) async fn search_in_turn(
        &self,
        at_home: impl Future<Output = Result<Reserve, StockError>>,
        search: impl Future<Output = Result<Reserve, StockError>>,
    ) -> Result<Reserve, StockError> {
        let came_at = Stamp::now();
        if let Some(told) = self.told_since(came_at) {
            return told;
        }
        let _searching = match self.searching.try_lock() {
            Ok(searching) => searching,
            Err(_) => {
                let searching = self.searching.lock().await;
                if let Some(told) = self.told_since(came_at) {
                    return told;
                }
                match at_home.await? {
                    Reserve::SoldOut(_) => searching,
                    answer => return Ok(answer),
                }
            }
        };
        let found = search.await;
        self.note_refusal(&found);
        found
    }

    /// Remembers the result of a search, if it applies to all users.
    fn note_refusal(&self, found: &Result<Reserve, StockError>) {
        let refused = match found {
            Ok(for_all @ (Reserve::Paused | Reserve::Closed | Reserve::UnknownSale)) => Some(Some(for_all.clone())),
            Err(error) if error.is_away() || matches!(error, StockError::OnTheWay) => Some(None),
            _ => None,
        };
        *lock(&self.refused) = refused.map(|refused| (Stamp::now(), refused));
    }

    /// Whether a lane had a unit a moment ago, or that was unknown.
    pub(crate) fn may_have_units(&self) -> bool {
        lock(&self.has_units).is_some_and(|at| at.age().is_some_and(|age| age < HOLDS_ABOUT))
    }

    /// Remembers that a lane had a unit at `at`, or that it was unknown.
    pub(crate) fn note_units(&self, at: Stamp) {
        *lock(&self.has_units) = Some(at);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use sale::EpochMs;

    use super::*;
    use crate::WinsSeen;

    /// A request that waited for a search must not search itself, whatever the result.
    #[test]
    fn who_waited_hears_what_the_search_came_to() {
        let seen = RoundSeen::default();
        let told = |came_at| seen.told_since(came_at).map(|told| told.ok());
        let before = Stamp::now();
        assert_eq!(told(before), None);
        seen.note_refusal(&Err(StockError::OnTheWay));
        let after = Stamp(before.0 + Duration::from_secs(60), before.1);
        assert_eq!([told(before), told(after)], [Some(None), None], "a later request searches again");
        seen.note_refusal(&Ok(Reserve::Paused));
        assert_eq!(told(before), Some(Some(Reserve::Paused)));
        let old = |ms| {
            let ago = Duration::from_millis(ms);
            let stamp = Stamp(before.0.checked_sub(ago).unwrap(), before.1 - ago);
            *lock(&seen.refused) = Some((stamp, Some(Reserve::Closed)));
            told(after)
        };
        assert_eq!([old(0), old(250)], [Some(Some(Reserve::Closed)), None], "the pause may be over");
        seen.note_refusal(&Ok(Reserve::Blocked));
        assert_eq!(told(before), None, "that is one user's");
    }

    #[test]
    fn what_was_seen_is_of_one_round_and_units_are_expected_for_a_moment() {
        let seen = LanesSeen::default();
        let of = |round: &str| seen.of(&round.parse().unwrap());
        // A busy machine may pause for longer than that moment.
        let is_expected = |_| {
            of("lamp.1").note_units(Stamp::now());
            of("lamp.1").may_have_units()
        };
        assert!((0..100).any(is_expected));
        assert!(!of("lamp.2").may_have_units());
        let (round, now) = (of("lamp.1"), Stamp::now());
        round.note_units(Stamp(now.0.checked_sub(HOLDS_ABOUT).unwrap(), now.1 - HOLDS_ABOUT));
        assert!(!round.may_have_units());
    }

    /// The memory of different processes may be laid out alike.
    #[test]
    fn processes_have_different_lanes() {
        let chosen: std::collections::BTreeSet<u16> = (0..200).map(|_| LanesSeen::default().any_lane(16)).collect();
        assert!(chosen.len() > 8 && chosen.iter().all(|lane| *lane < 16), "{chosen:?}");
        assert_eq!(LanesSeen::default().any_lane(1), 0);
    }

    #[test]
    fn what_was_found_holds_for_a_while_by_either_clock() {
        let found =
            SoldOut { wins: WinsSeen::at(EpochMs(1)), lasts: Duration::from_millis(900), next_release_ms: None };
        let before = |monotonic, wall| {
            let (now, seen) = (Stamp::now(), RoundSeen::default());
            let ago = |ms| Duration::from_millis(ms);
            seen.note_sold_out(Stamp(now.0.checked_sub(ago(monotonic)).unwrap(), now.1 - ago(wall)), found);
            seen.sold_out().map(|sold_out| sold_out.lasts <= found.lasts - ago(monotonic.max(wall)))
        };
        assert_eq!(RoundSeen::default().sold_out(), None);
        assert_eq!([before(0, 0), before(100, 200), before(200, 100)], [Some(true); 3]);
        assert_eq!([before(900, 0), before(0, 900), before(5000, 5000)], [None; 3]);
        let (seen, now) = (RoundSeen::default(), Stamp::now());
        seen.note_sold_out(Stamp(now.0, now.1 + Duration::from_secs(60)), found);
        assert_eq!(seen.sold_out(), None, "a clock that goes back is not trusted");
    }
}
