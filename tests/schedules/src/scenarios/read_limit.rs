//! Requests look up draws, and some are dropped.
//!
//! Sources: functions/catalog/src/read_limit.rs

use std::future::pending;
use std::sync::atomic::AtomicUsize;

use futures::FutureExt;

use super::read_limit::ReadLimit;
use crate::prelude::*;

const AT_ONCE: usize = 4;

struct LooksUp<'a>(&'a AtomicUsize);

impl Drop for LooksUp<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

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
    let state = Arc::new((ReadLimit::new(), AtomicUsize::new(0)));
    at_once(&state, 6, async |(read_limit, under_way), _| {
        let read = async {
            assert!(under_way.fetch_add(1, Relaxed) < AT_ONCE, "a few look up draws at once");
            let _looks_up = LooksUp(under_way);
            yield_now().await;
            yield_now().await;
        };
        until_given_up(read_limit.one(read)).await;
    });
    let (read_limit, under_way) = &*state;
    let look_up = async || {
        under_way.fetch_add(1, Relaxed);
        pending::<()>().await;
    };
    let mut waiting: Vec<_> = (0..=AT_ONCE).map(|_| Box::pin(read_limit.one(look_up()))).collect();
    for read in &mut waiting {
        let _ = read.now_or_never();
    }
    let under_way = under_way.load(Relaxed);
    assert!(under_way <= AT_ONCE, "a few look up draws at once");
    assert_eq!(under_way, AT_ONCE, "a dropped one makes room");
}
