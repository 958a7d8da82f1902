//! Calls to a part that does not answer.

use super::watch::{Change, WAIT, WINDOW, Watch};
use crate::prelude::*;

/// How many calls are trying, and the most that did at once.
#[derive(Clone, Default)]
struct Trying(Arc<[AtomicU32; 2]>);

/// A trying call, until it ends or is dropped.
struct Tries<'a>(&'a Trying);

impl Trying {
    fn begin(&self) -> Tries<'_> {
        let trying = self.0[0].fetch_add(1, Ordering::Relaxed) + 1;
        self.0[1].fetch_max(trying, Ordering::Relaxed);
        Tries(self)
    }

    fn most(&self) -> u32 {
        self.0[1].load(Ordering::Relaxed)
    }
}

impl Drop for Tries<'_> {
    fn drop(&mut self) {
        self.0.0[0].fetch_sub(1, Ordering::Relaxed);
    }
}

fn leave_alone(watch: &Watch) {
    let changes = (0..WINDOW).map(|_| watch.begin(Clock).expect("the breaker is still closed").end(false));
    assert_eq!(changes.last(), Some(Change::Opened));
}

/// A call begins and ends late, if at all. Meanwhile the breaker opens, and three more calls come when one may try. They get no answer.
pub fn one_call_tries() {
    let (watch, trying) = (Arc::<Watch>::default(), Trying::default());
    let [has_begun, may_end] = [(); 2].map(|()| Arc::<AtomicBool>::default());
    let before = {
        let (watch, has_begun, may_end) = (Arc::clone(&watch), Arc::clone(&has_begun), Arc::clone(&may_end));
        spawn(async move {
            let call = watch.begin(Clock).expect("the breaker is still closed");
            has_begun.store(true, Ordering::Relaxed);
            wait_for(&may_end).await;
            let late = async {
                yield_now().await;
                call.end(true);
            };
            until_given_up(late).await;
        })
    };
    block_on(async {
        wait_for(&has_begun).await;
        leave_alone(&watch);
        pass(WAIT);
        may_end.store(true, Ordering::Relaxed);
        let calls = [(); 3].map(|()| {
            let (watch, trying) = (Arc::clone(&watch), trying.clone());
            spawn(async move {
                let _ = until_given_up(try_in_vain(&watch, &trying)).await;
            })
        });
        all(calls).await;
        before.await.unwrap();
        assert!(trying.most() <= 1, "one call tries");
        pass(WAIT);
        let call = watch.begin(Clock).expect("it is asked again");
        assert_eq!(call.end(true), Change::Closed);
        assert!([watch.begin(Clock), watch.begin(Clock)].iter().all(Option::is_some), "all calls may try again");
    });
}

async fn try_in_vain(watch: &Watch, trying: &Trying) {
    let Some(call) = watch.begin(Clock) else { return };
    let ends = trying.begin();
    yield_now().await;
    drop(ends);
    call.end(false);
}

async fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        yield_now().await;
    }
}
