//! Requests for a throttled sale take turns from their process's lease.
//! Sources: shared/process/src/turns.rs

use stock::Lease;

use super::turns::{Turn, Turns};
use crate::prelude::*;

const PER_S: u32 = 4;
const SECOND: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Redis {
    asking: UnderWay,
    leased: AtomicU32,
}

impl Redis {
    async fn lease(&self, wanted: u32, answers: bool) -> Result<Lease, ()> {
        let asking = self.asking.begin_alone("one request asks Redis for all");
        yield_now().await;
        drop(asking);
        if !answers {
            return Err(());
        }
        self.leased.fetch_add(wanted, Relaxed);
        Ok(Lease { count: wanted, holds_for: SECOND })
    }
}

async fn take(turns: &Turns, redis: &Redis, answers: bool) -> Result<Turn, ()> {
    turns.take(PER_S, Clock, async |wanted| redis.lease(wanted, answers).await).await
}

/// Four requests come while a second passes. One of them gives its turn back.
// Mistake "one request asks Redis for all": the lock is released before Redis is asked.
// - let mut leased = self.leased.lock().await;
// + let mut kept = *self.leased.lock().await;
// + let leased = &mut kept;
pub fn no_more_turns_than_were_leased() {
    let state = Arc::<(Turns, Redis, [AtomicU32; 2])>::default();
    at_once(&state, 4, async |(turns, redis, [went, given_back]), number| {
        if number == 3 {
            pass(SECOND);
        }
        if take(turns, redis, true).await == Ok(Turn::Now) {
            went.fetch_add(1, Relaxed);
            if number == 1 {
                given_back.fetch_add(1, Relaxed);
                turns.give_back();
            }
        }
    });
    let [went, given_back] = [0, 1].map(|at: usize| state.2[at].load(Relaxed));
    assert!(went <= state.1.leased.load(Relaxed) + given_back, "no more turns than were leased");
}

/// A lease has one turn left, and another is given back while that one is taken. Then two can be taken.
// Mistake "is given back is there": a turn is taken in two steps.
// - let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
// + let taken = self.left.load(Ordering::Relaxed).checked_sub(1).ok_or(());
// + let taken = taken.map(|left| self.left.store(left, Ordering::Relaxed));
pub fn a_turn_that_is_given_back_is_there() {
    let state = Arc::<(Turns, Redis)>::default();
    let take =
        async |(turns, redis): &(Turns, Redis)| turns.take(PER_S, Clock, async |_| redis.lease(2, true).await).await;
    assert_eq!(block_on(take(&state)), Ok(Turn::Now));
    let (_, first) = at_once_and(&state, 1, async |(turns, _), _| turns.give_back(), take);
    assert_eq!([first, block_on(take(&state))], [Ok(Turn::Now); 2], "a turn that is given back is there");
}

/// Redis does not answer three requests, which may be dropped. A second later it does.
// Mistake "is asked once a second": a lease that fails or is given up is retried at once.
// - holds_for: TRY_AGAIN_AFTER });
// + holds_for: TRY_AGAIN_AFTER.min(Duration::ZERO) });
pub fn a_silent_redis_is_asked_once_a_second() {
    let state = Arc::<(Turns, Redis)>::default();
    at_once(&state, 3, async |(turns, redis), _| {
        let _ = until_given_up(take(turns, redis, false)).await;
    });
    let (turns, redis) = &*state;
    assert!(redis.asking.times() <= 1, "a silent Redis is asked once a second");
    pass(SECOND);
    assert_eq!(block_on(take(turns, redis, true)), Ok(Turn::Now), "it is asked again");
}
