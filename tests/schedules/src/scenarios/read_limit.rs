//! Requests look up draws, and some are dropped.
//! Sources: functions/catalog/src/read_limit.rs

use std::future::pending;

use futures::FutureExt;

use super::read_limit::ReadLimit;
use crate::prelude::*;

const AT_ONCE: u32 = 4;

/// Six look up draws and may be dropped at any time. Then there is room for four again, and for no fifth.
// Mistake "a few look up draws at once": the permit is given back before the look-up.
// - let _room = self.0.acquire()
// + let _ = self.0.acquire()
// Mistake "a dropped one makes room": the permit is only given back at the end of a look-up.
// - let _room = self.0.acquire().await.expect("nobody closes it");
// + self.0.acquire().await.expect("nobody closes it").forget();
// - read.await
// + let found = read.await;
// + self.0.add_permits(1);
// + found
pub fn a_few_at_once_and_a_dropped_one_makes_room() {
    let state = Arc::new((ReadLimit::new(), UnderWay::default()));
    at_once(&state, 6, async |(read_limit, under_way), _| {
        let read = async {
            let _looks_up = under_way.begin();
            assert!(under_way.now() <= AT_ONCE, "a few look up draws at once");
            yield_now().await;
            yield_now().await;
        };
        until_given_up(read_limit.one(read)).await;
    });
    let (read_limit, under_way) = &*state;
    let look_up = async || {
        let _looks_up = under_way.begin();
        pending::<()>().await;
    };
    let mut waiting: Vec<_> = (0..=AT_ONCE).map(|_| Box::pin(read_limit.one(look_up()))).collect();
    for read in &mut waiting {
        let _ = read.now_or_never();
    }
    let under_way = under_way.now();
    assert!(under_way <= AT_ONCE, "a few look up draws at once");
    assert_eq!(under_way, AT_ONCE, "a dropped one makes room");
}
