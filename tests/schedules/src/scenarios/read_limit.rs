//! Requests look up draws, and some are dropped.

use std::future::pending;
use std::sync::atomic::AtomicUsize;

use futures::FutureExt;

use super::read_limit::ReadLimit;
use crate::prelude::*;

const AT_ONCE: usize = 4;

struct LooksUp<'a>(&'a AtomicUsize);

impl Drop for LooksUp<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Six look up draws and may be dropped at any time. Then there is room for four again, and for no fifth.
pub fn a_few_at_once_and_a_dropped_one_makes_room() {
    let (read_limit, under_way) = (Arc::new(ReadLimit::new()), Arc::<AtomicUsize>::default());
    let requests = [(); 6].map(|()| {
        let (read_limit, under_way) = (Arc::clone(&read_limit), Arc::clone(&under_way));
        spawn(async move {
            let read = async {
                assert!(under_way.fetch_add(1, Ordering::Relaxed) < AT_ONCE, "a few look up draws at once");
                let _looks_up = LooksUp(&under_way);
                yield_now().await;
                yield_now().await;
            };
            until_given_up(read_limit.one(read)).await;
        })
    });
    block_on(async {
        all(requests).await;
        let mut waiting: Vec<_> = (0..=AT_ONCE)
            .map(|_| {
                Box::pin(read_limit.one(async {
                    under_way.fetch_add(1, Ordering::Relaxed);
                    pending::<()>().await;
                }))
            })
            .collect();
        for read in &mut waiting {
            let _ = read.now_or_never();
        }
        let under_way = under_way.load(Ordering::Relaxed);
        assert!(under_way <= AT_ONCE, "a few look up draws at once");
        assert_eq!(under_way, AT_ONCE, "a dropped one makes room");
    });
}
