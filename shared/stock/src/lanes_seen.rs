use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use sale::RoundId;
use tokio::sync::Mutex as AsyncMutex;

use crate::SoldOut;

/// Rounds that are remembered at most: one with several lanes is rare.
const MOST_ROUNDS: usize = 64;
/// How long what was found holds at most. Nothing that comes back is sold any sooner.
const HOLDS: Duration = Duration::from_millis(1000);

/// What this process has seen of rounds with several lanes. Its clones are one.
#[derive(Clone, Default)]
pub(crate) struct LanesSeen(Arc<Mutex<HashMap<RoundId, Arc<RoundSeen>>>>);

/// What it has seen of one.
#[derive(Default)]
pub(crate) struct RoundSeen {
    sold_out: Mutex<Option<(Stamp, SoldOut)>>,
    /// Held by who looks for units in the other lanes: the others wait for what becomes of it.
    pub(crate) looking: AsyncMutex<()>,
}

/// A moment by both clocks: that of a process which was frozen may have stood still.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp(Instant, SystemTime);

impl Stamp {
    pub(crate) fn now() -> Self {
        Self(Instant::now(), SystemTime::now())
    }

    /// How long ago it was by the clock that says more. None if a clock went back.
    fn age(self) -> Option<Duration> {
        Some(self.0.elapsed().max(self.1.elapsed().ok()?))
    }
}

impl LanesSeen {
    pub(crate) fn of(&self, round: &RoundId) -> Arc<RoundSeen> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = rounds.get(round) {
            return Arc::clone(seen);
        }
        if rounds.len() >= MOST_ROUNDS {
            rounds.clear();
        }
        Arc::clone(rounds.entry(round.clone()).or_default())
    }

    /// Any lane of so many, another one from process to process.
    pub(crate) fn any_lane(&self, lanes: u16) -> u16 {
        if lanes <= 1 {
            return 0;
        }
        // A map's hasher is another one in each process.
        let number = self.0.lock().unwrap_or_else(PoisonError::into_inner).hasher().hash_one(0);
        (number % u64::from(lanes)) as u16
    }
}

impl RoundSeen {
    /// That nobody gets a unit, if that was found a moment ago, and for how much longer.
    pub(crate) fn sold_out(&self) -> Option<SoldOut> {
        let (found_at, sold_out) = (*self.lock())?;
        let age = found_at.age().filter(|age| *age < HOLDS)?;
        let lasts = sold_out.lasts.checked_sub(age).filter(|left| !left.is_zero())?;
        Some(SoldOut { lasts, ..sold_out })
    }

    /// Notes that nobody got a unit at `at`.
    pub(crate) fn note_sold_out(&self, at: Stamp, sold_out: SoldOut) {
        *self.lock() = Some((at, sold_out));
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Stamp, SoldOut)>> {
        self.sold_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use sale::EpochMs;

    use super::*;

    /// Memory of different processes may lie alike.
    #[test]
    fn processes_have_different_lanes() {
        let chosen: std::collections::BTreeSet<u16> = (0..200).map(|_| LanesSeen::default().any_lane(16)).collect();
        assert!(chosen.len() > 8 && chosen.iter().all(|lane| *lane < 16), "{chosen:?}");
        assert_eq!(LanesSeen::default().any_lane(1), 0);
    }

    #[test]
    fn what_was_found_holds_for_a_while_by_either_clock() {
        let found = SoldOut { last_won_at_ms: EpochMs(1), lasts: Duration::from_millis(900), next_release_ms: None };
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
        assert_eq!(seen.sold_out(), None, "no clock can be believed that goes back");
    }
}
