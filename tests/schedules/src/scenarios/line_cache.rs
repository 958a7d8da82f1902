//! People poll a line that moves, and some stop waiting.

use super::line_cache::LineCache;
use crate::prelude::*;

/// How long a result may be shown.
const SHOWN: std::time::Duration = std::time::Duration::from_secs(1);

/// How far Redis says the line is, which goes back when Redis loses it.
#[derive(Default)]
struct Redis {
    asking: OneAtATime,
    looks: AtomicU32,
    watermark: AtomicU32,
}

/// Looks that remember the highest watermark that they published.
type Watermarks = LineCache<u32, u32>;

impl Redis {
    async fn look(&self, published: &mut u32) -> u32 {
        let asking = self.asking.begin("one looks for all");
        self.looks.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        *published = self.watermark.load(Ordering::Relaxed).max(*published);
        yield_now().await;
        drop(asking);
        *published
    }

    fn looks(&self) -> u32 {
        self.looks.load(Ordering::Relaxed)
    }
}

/// Three poll at once, and one of them may give up. Another one looks only if that one was looking.
pub fn one_looks_for_all() {
    let (watermarks, redis) = (Arc::new(Watermarks::new()), Arc::<Redis>::default());
    let requests = [false, false, true].map(|may_give_up| {
        let (watermarks, redis) = (Arc::clone(&watermarks), Arc::clone(&redis));
        spawn(async move {
            let polled = poll(&watermarks, &redis);
            if may_give_up { until_given_up(polled).await.is_none() } else { polled.await == u32::MAX }
        })
    });
    block_on(async {
        let mut gave_up = 0;
        for request in requests {
            gave_up += u32::from(request.await.unwrap());
        }
        assert!(redis.looks() <= 1 + gave_up, "one looks for all");
        pass(SHOWN);
        let before = redis.looks();
        poll(&watermarks, &redis).await;
        assert_eq!(redis.looks(), before + 1, "it is looked at again");
    });
}

/// The line moves and is lost while people poll it. Nobody sees it farther back than somebody before.
pub fn the_watermark_never_moves_back() {
    let (watermarks, redis) = (Arc::new(Watermarks::new()), Arc::<Redis>::default());
    let seen = Arc::<AtomicU32>::default();
    let requests = [3, 0, 5].map(|watermark| {
        let (watermarks, redis, seen) = (Arc::clone(&watermarks), Arc::clone(&redis), Arc::clone(&seen));
        spawn(async move {
            for _ in 0..2 {
                redis.watermark.store(watermark, Ordering::Relaxed);
                let before = seen.load(Ordering::Relaxed);
                if let Some(watermark) = until_given_up(poll(&watermarks, &redis)).await {
                    assert!(watermark >= before, "the watermark never moves back");
                    seen.fetch_max(watermark, Ordering::Relaxed);
                }
                pass(SHOWN);
            }
        })
    });
    block_on(async {
        all(requests).await;
    });
}

/// The line moves while the process is frozen, maybe during a look. Whoever polls after that sees it where it is.
pub fn what_was_seen_before_a_freeze_is_not_shown_after_it() {
    const FROZEN_MS: i64 = 60_000;
    let (watermarks, redis) = (Arc::new(Watermarks::new()), Arc::<Redis>::default());
    let requests = [(); 2].map(|()| {
        let (watermarks, redis) = (Arc::clone(&watermarks), Arc::clone(&redis));
        spawn(async move {
            until_given_up(poll(&watermarks, &redis)).await;
            step();
            let has_moved = redis.watermark.load(Ordering::Relaxed) == 7;
            let seen = poll(&watermarks, &redis).await;
            assert!(seen == 7 || !has_moved, "what was seen before a freeze is not shown after it");
        })
    });
    block_on(async {
        yield_now().await;
        set_wall_clock(FROZEN_MS);
        redis.watermark.store(7, Ordering::Relaxed);
        all(requests).await;
    });
}

async fn poll(watermarks: &Watermarks, redis: &Redis) -> u32 {
    let round = RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(1) };
    watermarks.at_line(&round, Clock, async |published| redis.look(published).await).await
}
