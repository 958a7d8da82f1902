//! Calls to a part that does not answer.
//! Sources: shared/runtime/src/breaker/watch.rs

use super::watch::{Change, WAIT, WINDOW, Watch};
use crate::prelude::*;

fn leave_alone(watch: &Watch) {
    let changes = (0..WINDOW).map(|_| watch.begin(Clock).expect("the breaker is still closed").end(false));
    assert_eq!(changes.last(), Some(Change::Opened));
}

/// A call begins and ends late, if at all. Meanwhile the breaker opens, and three more calls come when one may try. They get no answer.
// Mistake: a call does not check whether another one is trying.
// - if opened.has_trial || Moment::now(clock).since(opened.since) < WAIT {
// + if Moment::now(clock).since(opened.since) < WAIT {
// Mistake "it is asked again": a trying call that is dropped counts as trying for ever.
// - opened.has_trial = false;
// + opened.has_trial = true;
// Mistake: a call that began before the breaker opened ends another call's try.
// - if !self.is_trial {
// - return;
// - }
// +
// - if self.changes == state.changes
// - && let Some(opened) = &mut state.opened
// - {
// + if let Some(opened) = &mut state.opened {
pub fn one_call_tries() {
    #[derive(Default)]
    struct State {
        watch: Watch,
        trying: UnderWay,
        has_begun: AtomicBool,
        may_end: AtomicBool,
    }
    let state = Arc::<State>::default();
    let early_call = async |State { watch, has_begun, may_end, .. }: &State, _: usize| {
        let call = watch.begin(Clock).expect("the breaker is still closed");
        has_begun.store(true, Relaxed);
        wait_for(may_end).await;
        let late = async {
            yield_now().await;
            call.end(true);
        };
        until_given_up(late).await;
    };
    at_once_and(&state, 1, early_call, async |_| {
        let State { watch, trying, has_begun, may_end } = &*state;
        wait_for(has_begun).await;
        leave_alone(watch);
        pass(WAIT);
        may_end.store(true, Relaxed);
        at_once(&state, 3, async |State { watch, trying, .. }, _| {
            let _ = until_given_up(try_in_vain(watch, trying)).await;
        });
        assert!(trying.most() <= 1, "one call tries");
    });
    pass(WAIT);
    assert_eq!(state.watch.begin(Clock).expect("it is asked again").end(true), Change::Closed);
    assert!([(); 2].iter().all(|()| state.watch.begin(Clock).is_some()), "all calls may try again");
}

async fn try_in_vain(watch: &Watch, trying: &UnderWay) {
    let Some(call) = watch.begin(Clock) else { return };
    let ends = trying.begin();
    yield_now().await;
    drop(ends);
    call.end(false);
}

async fn wait_for(flag: &AtomicBool) {
    while !flag.load(Relaxed) {
        yield_now().await;
    }
}
