//! Requests for a throttled sale take turns from their process's lease.

use stock::Lease;

use super::turns::{Turn, Turns};
use crate::prelude::*;

const PER_S: u32 = 4;
const SECOND: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Redis {
    is_asked: AtomicBool,
    calls: AtomicU32,
    leased: AtomicU32,
}

struct Call(Arc<Redis>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.is_asked.store(false, Ordering::Relaxed);
    }
}

impl Redis {
    async fn lease(self: Arc<Self>, wanted: u32, answers: bool) -> Result<Lease, ()> {
        assert!(!self.is_asked.swap(true, Ordering::Relaxed), "one request asks Redis for all");
        let call = Call(Arc::clone(&self));
        self.calls.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        drop(call);
        if !answers {
            return Err(());
        }
        self.leased.fetch_add(wanted, Ordering::Relaxed);
        Ok(Lease { count: wanted, holds_for: SECOND })
    }
}

/// Four requests come while a second passes. One of them gives its turn back.
pub fn no_more_turns_than_were_leased() {
    let (turns, redis) = (Arc::<Turns>::default(), Arc::<Redis>::default());
    let (went, given_back) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
    let requests: Vec<_> = (0..4)
        .map(|number| {
            let (turns, redis) = (Arc::clone(&turns), Arc::clone(&redis));
            let (went, given_back) = (Arc::clone(&went), Arc::clone(&given_back));
            spawn(async move {
                if number == 3 {
                    pass(SECOND);
                }
                let turn = turns.take(PER_S, Clock, async |wanted| redis.lease(wanted, true).await).await;
                if turn == Ok(Turn::Now) {
                    went.fetch_add(1, Ordering::Relaxed);
                    if number == 1 {
                        given_back.fetch_add(1, Ordering::Relaxed);
                        turns.give_back();
                    }
                }
            })
        })
        .collect();
    block_on(async {
        all(requests).await;
    });
    let [went, given_back] = [went, given_back].map(|count| count.load(Ordering::Relaxed));
    assert!(went <= redis.leased.load(Ordering::Relaxed) + given_back, "no more turns than were leased");
}

/// A lease has one turn left, and another is given back while that one is taken. Then two can be taken.
pub fn a_turn_that_is_given_back_is_there() {
    let (turns, redis) = (Arc::<Turns>::default(), Arc::<Redis>::default());
    let take = async |turns: &Turns, redis: &Arc<Redis>| {
        let redis = Arc::clone(redis);
        turns.take(PER_S, Clock, async |_| redis.lease(2, true).await).await
    };
    block_on(async {
        assert_eq!(take(&turns, &redis).await, Ok(Turn::Now));
        let giving = spawn({
            let turns = Arc::clone(&turns);
            async move { turns.give_back() }
        });
        let first = take(&turns, &redis).await;
        giving.await.unwrap();
        assert_eq!([first, take(&turns, &redis).await], [Ok(Turn::Now); 2], "a turn that is given back is there");
    });
}

/// Redis does not answer three requests, which may be dropped. A second later it does.
pub fn a_silent_redis_is_asked_once_a_second() {
    let (turns, redis) = (Arc::<Turns>::default(), Arc::<Redis>::default());
    let requests = [(); 3].map(|()| {
        let (turns, redis) = (Arc::clone(&turns), Arc::clone(&redis));
        spawn(async move {
            let asked = turns.take(PER_S, Clock, async |wanted| redis.lease(wanted, false).await);
            let _ = until_given_up(asked).await;
        })
    });
    block_on(async {
        all(requests).await;
        assert!(redis.calls.load(Ordering::Relaxed) <= 1, "a silent Redis is asked once a second");
        pass(SECOND);
        let turn = turns.take(PER_S, Clock, async |wanted| redis.lease(wanted, true).await).await;
        assert_eq!(turn, Ok(Turn::Now), "it is asked again");
    });
}
