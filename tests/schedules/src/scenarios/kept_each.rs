//! Requests look up who is in a group while the list changes.
//! Sources: shared/process/src/kept_each.rs

use super::kept_each::KeptEach;
use crate::prelude::*;

const AGE: Duration = Duration::from_secs(30);
const ALICE: &str = "alice";

/// What the list says, by the number of its changes.
#[derive(Default)]
struct List(AtomicU32);

type Members = KeptEach<&'static str, u32>;

impl List {
    async fn said(&self, members: &Members) -> u32 {
        let read = async {
            yield_now().await;
            let read = self.0.load(Relaxed);
            // The answer is on its way.
            yield_now().await;
            Ok::<_, ()>(read)
        };
        members.get_or_read(&ALICE, read).await.unwrap()
    }
}

async fn ask((members, list): &(Members, List), _: usize) {
    until_given_up(list.said(members)).await;
}

/// The list changes during reads, some of which are dropped. When a value's time is over, nobody goes by the old list, although
/// the process may have been frozen meanwhile.
// Mistake: the age of a value counts from the end of its read.
// - began: Moment, value: V) {
// + _: Moment, value: V) {
// + let began = self.now();
// Mistake: the age of a value counts only by the cache's clock.
// - now.since(kept.began) < self.age
// + now.since(kept.began) < self.age.max(Duration::MAX)
pub fn a_change_holds_for_all_in_time() {
    for is_frozen in [false, true] {
        let state = Arc::new((Members::new(9, AGE, Clock), List::default()));
        at_once_and(&state, 2, ask, async |(members, list)| {
            yield_now().await;
            list.0.store(1, Relaxed);
            if is_frozen {
                set_wall_clock(30_000);
            } else {
                pass(AGE);
            }
            assert_eq!(list.said(members).await, 1, "a change holds for all in time");
        });
        assert_eq!(block_on(state.1.said(&state.0)), 1, "a change holds for all in time");
    }
}

/// Time passes and the list changes during reads. What was read later stays.
// Mistake: a read that ends late replaces the result of one that began after it.
// - usable.filter(|kept| !kept.began.since(began).is_zero())
// + usable.filter(|_| false)
pub fn what_began_later_stays() {
    let state = Arc::new((Members::new(9, AGE, Clock), List::default()));
    at_once_and(&state, 2, ask, async |(members, list)| {
        yield_now().await;
        list.0.store(1, Relaxed);
        pass(AGE / 3);
        let began = members.now();
        yield_now().await;
        members.keep(&ALICE, began, 1);
    });
    assert_eq!(state.0.get(&ALICE), Some(1), "what began later stays");
}

/// The wall clock was an hour ahead when a value was read. Once that value is old, a new one is kept in its place.
// Mistake: a value from when the wall clock was ahead is kept in place of new ones.
// - let usable = kept.filter(|kept| self.is_usable(kept, now));
// + let usable = kept.filter(|kept| now.since(kept.began) <= Duration::MAX);
pub fn what_is_old_makes_room() {
    const AHEAD_MS: i64 = 3_600_000;
    let state = Arc::new((Members::new(9, AGE, Clock), List::default()));
    let (members, list) = &*state;
    set_wall_clock(AHEAD_MS);
    members.keep(&ALICE, members.now(), 0);
    set_wall_clock(-AHEAD_MS);
    pass(AGE);
    list.0.store(1, Relaxed);
    at_once(&state, 2, ask);
    block_on(list.said(members));
    assert_eq!(members.get(&ALICE), Some(1), "what is old makes room");
}
