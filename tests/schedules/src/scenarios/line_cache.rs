//! People poll a line that moves, and some stop waiting.
//! Sources: functions/waiting_room/src/line_cache.rs

use super::line_cache::LineCache;
use crate::prelude::*;

/// How long a result may be shown.
const SHOWN: Duration = Duration::from_secs(1);

/// How far Redis says the line is, which goes back when Redis loses it.
#[derive(Default)]
struct Redis {
    asking: UnderWay,
    watermark: AtomicU32,
}

/// Looks that remember the highest watermark that they published.
type Watermarks = LineCache<u32, u32>;

impl Redis {
    async fn look(&self, published: &mut u32) -> u32 {
        let look = || *published = self.watermark.load(Relaxed).max(*published);
        self.asking.alone("one looks for all", look).await;
        *published
    }
}

/// With the highest watermark that anybody saw.
type State = (Watermarks, Redis, AtomicU32);

fn state() -> Arc<State> {
    Arc::new((Watermarks::new(), Redis::default(), AtomicU32::new(0)))
}

async fn poll((watermarks, redis, _): &State) -> u32 {
    watermarks.at_line(&lamps(), Clock, async |published| redis.look(published).await).await
}

/// Three poll at once, and one of them may give up. Another one looks only if that one was looking.
// Mistake: a line is looked up in one step and kept in another.
// - let line = self.0.get_with_by_ref(round, Arc::default);
// + let line = self.0.get(round).unwrap_or_default();
// + self.0.insert(round.clone(), Arc::clone(&line));
// Mistake: the lock is released before the result is kept.
// - let result = read(&mut line.remembered).await;
// + let mut remembered = std::mem::take(&mut line.remembered);
// + drop(line);
// + let result = read(&mut remembered).await;
// + let mut line = kept.lock().await;
// + line.remembered = remembered;
// - let mut line = line.lock().await;
// + let kept = line;
// + let mut line = kept.lock().await;
pub fn one_looks_for_all() {
    let state = state();
    let gave_up = at_once(&state, 3, async |state, number| {
        let polled = poll(state);
        if number == 2 { until_given_up(polled).await.is_none() } else { polled.await == u32::MAX }
    });
    let redis = &state.1;
    assert!(redis.asking.times() <= 1 + gave_up.into_iter().map(u32::from).sum::<u32>(), "one looks for all");
    pass(SHOWN);
    let before = redis.asking.times();
    block_on(poll(&state));
    assert_eq!(redis.asking.times(), before + 1, "it is looked at again");
}

/// The line moves and is lost while people poll it. Nobody sees it farther back than somebody before.
// Mistake: what a line's looks remember is lost when one is cut off.
// - let result = read(&mut line.remembered).await;
// + let mut taken = std::mem::take(&mut line.remembered);
// + let result = read(&mut taken).await;
// + line.remembered = taken;
pub fn the_watermark_never_moves_back() {
    at_once(&state(), 3, async |state, number| {
        let (_, redis, seen) = state;
        for _ in 0..2 {
            redis.watermark.store([3, 0, 5][number], Relaxed);
            let before = seen.load(Relaxed);
            if let Some(watermark) = until_given_up(poll(state)).await {
                assert!(watermark >= before, "the watermark never moves back");
                seen.fetch_max(watermark, Relaxed);
            }
            pass(SHOWN);
        }
    });
}

/// The line moves while the process is frozen, maybe during a look. Whoever polls after that sees it where it is.
// Mistake: the result of a look is shown, however long ago the look began.
// - (at.since(began) <= LONGEST_READ)
// + (at.since(began) <= LONGEST_READ.max(Duration::MAX))
pub fn what_was_seen_before_a_freeze_is_not_shown_after_it() {
    const FROZEN_MS: i64 = 60_000;
    let polls_twice = async |state: &State, _: usize| {
        until_given_up(poll(state)).await;
        step();
        let has_moved = state.1.watermark.load(Relaxed) == 7;
        let seen = poll(state).await;
        assert!(seen == 7 || !has_moved, "what was seen before a freeze is not shown after it");
    };
    at_once_and(&state(), 2, polls_twice, async |(_, redis, _)| {
        yield_now().await;
        set_wall_clock(FROZEN_MS);
        redis.watermark.store(7, Relaxed);
    });
}
