use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use runtime::cache::RefreshError;
use sale::RoundId;

use super::sync::{AsyncMutex, Cache, Clock, Moment, timeout};

const FRESH: Duration = Duration::from_secs(3);
/// After a read the source rests for this many times its duration, so watching takes at most a tenth of the time.
const REST: u32 = 9;
/// The time limit of a read, and of waiting for it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How many rounds are remembered: those watched last.
const MAX_ROUNDS: u64 = 16;

/// The rounds that somebody watches: for each, `S` is what its reads remember, and `V` the result of the last one.
pub(crate) struct Watched<S, V> {
    rounds: Cache<RoundId, Arc<AsyncMutex<WatchedRound<S, V>>>>,
    clock: Clock,
}

/// What is known about a round, locked while it is read.
struct WatchedRound<S, V> {
    remembered: S,
    last: Option<V>,
    /// Since when and for how long the source is left alone.
    rest: Option<(Moment, Duration)>,
}

impl<S: Default, V> Default for WatchedRound<S, V> {
    fn default() -> Self {
        Self { remembered: S::default(), last: None, rest: None }
    }
}

impl<S, V> Watched<S, V>
where
    S: Default + Send + 'static,
    V: Copy + Send + 'static,
{
    pub(crate) fn new(clock: Clock) -> Self {
        let rounds = Cache::builder().max_capacity(MAX_ROUNDS).eviction_policy(EvictionPolicy::lru()).build();
        Self { rounds, clock }
    }

    /// A round's last result, after a read if it is time for one, for which all who ask wait. `None` if none succeeded.
    pub(crate) async fn of_round<E: std::error::Error + 'static>(
        &self,
        round: &RoundId,
        read: impl AsyncFnOnce(&mut S) -> Result<V, E>,
    ) -> Option<V> {
        let known = self.rounds.get_with_by_ref(round, Arc::default);
        let mut known = known.lock().await;
        let WatchedRound { remembered, last, rest } = &mut *known;
        let start = Moment::now(self.clock);
        if rest.is_none_or(|(since, pause)| start.since(since) >= pause) {
            // If the caller gives up during the read, it counts as one of the longest.
            *rest = Some((start, READ_TIMEOUT * (1 + REST)));
            let read = timeout(self.clock.limit(READ_TIMEOUT), read(remembered)).await;
            let end = Moment::now(self.clock);
            // The process may have been frozen meanwhile.
            *rest = Some((end, FRESH.max(end.since(start).min(READ_TIMEOUT) * REST)));
            match read.map_or(Err(RefreshError::TimedOut), |read| read.map_err(RefreshError::Read)) {
                Ok(result) => *last = Some(result),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, sale_id = %round.sale, "cannot count orders; using the last counts");
                }
            }
        }
        *last
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use sale::RoundNumber;

    use super::*;

    #[tokio::test]
    async fn the_number_of_rounds_is_bounded() {
        let watched = Watched::<(), u32>::new(Clock::system());
        let round = |number| RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) };
        for number in 1..=2 * MAX_ROUNDS as u32 {
            let read = async |(): &mut ()| Ok::<_, Infallible>(number);
            assert_eq!(watched.of_round(&round(number), read).await, Some(number));
        }
        watched.rounds.run_pending_tasks();
        assert_eq!(watched.rounds.entry_count(), MAX_ROUNDS);
        assert!(watched.rounds.contains_key(&round(2 * MAX_ROUNDS as u32)), "the last one is watched");
    }
}
