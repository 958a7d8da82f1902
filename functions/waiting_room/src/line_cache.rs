use std::sync::Arc;
use std::time::Duration;

use sale::RoundId;

use super::sync::{AsyncMutex, Cache, Clock, Moment};

/// How long the result of a look is shown. With the look, and a second in the CDN, this is how long a change takes.
const FRESH: Duration = Duration::from_millis(900);
/// A look that took longer than it may was interrupted by a freeze, and says nothing about now.
const LONGEST_READ: Duration = Duration::from_secs(6);
/// How many lines are cached: several times the number of sales ever open at once.
const MAX_LINES: u64 = 1_000;

/// The lines that this process has looked at: for each, `S` is what its looks remember, and `D` the result of the last.
pub(crate) struct LineCache<S, D>(Cache<RoundId, Arc<AsyncMutex<Line<S, D>>>>);

/// A line, locked while it is looked at.
struct Line<S, D> {
    remembered: S,
    /// When the last look ended, and its result.
    last: Option<(Moment, D)>,
}

impl<S: Default, D> Default for Line<S, D> {
    fn default() -> Self {
        Self { remembered: S::default(), last: None }
    }
}

impl<S, D> LineCache<S, D>
where
    S: Default + Send + 'static,
    D: Clone + Send + 'static,
{
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(MAX_LINES).build())
    }

    /// The result of the last look at a round's line while it is fresh, or of a new look, for which all others wait. A
    /// failure is a result too: looking again would not help a part that does not answer.
    pub(crate) async fn at_line(&self, round: &RoundId, clock: Clock, read: impl AsyncFnOnce(&mut S) -> D) -> D {
        let line = self.0.get_with_by_ref(round, Arc::default);
        let mut line = line.lock().await;
        if let Some(result) = line.at_hand(Moment::now(clock)) {
            return result;
        }
        let began = Moment::now(clock);
        let result = read(&mut line.remembered).await;
        let at = Moment::now(clock);
        line.last = (at.since(began) <= LONGEST_READ).then(|| (at, result.clone()));
        result
    }
}

impl<S, D: Clone> Line<S, D> {
    fn at_hand(&self, now: Moment) -> Option<D> {
        self.last.as_ref().filter(|(at, _)| now.since(*at) < FRESH).map(|(_, result)| result.clone())
    }
}

#[cfg(test)]
mod tests {
    use sale::EpochMs;
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn a_result_is_at_hand_for_as_long_as_it_is_fresh() {
        let began = Instant::now();
        let at = |ms| Moment::of(began + Duration::from_millis(ms), EpochMs(1_000_000 + ms as i64));
        let mut line = Line::<(), _>::default();
        assert_eq!(line.at_hand(at(0)), None);
        line.last = Some((at(0), "sold out"));
        assert_eq!([899, 900].map(|ms| line.at_hand(at(ms))), [Some("sold out"), None]);
    }
}
