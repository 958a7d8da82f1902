//! Requests look up who is in a group while the list changes.

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
            let read = self.0.load(Ordering::Relaxed);
            // The answer is on its way.
            yield_now().await;
            Ok::<_, ()>(read)
        };
        members.get_or_read(&ALICE, read).await.unwrap()
    }
}

/// The list changes during reads, some of which are dropped. When a value's time is over, nobody goes by the old list, although
/// the process may have been frozen meanwhile.
pub fn a_change_holds_for_all_in_time() {
    for is_frozen in [false, true] {
        let (members, list) = (Members::new(9, AGE, Clock), Arc::<List>::default());
        let requests = ask(&members, &list);
        block_on(async {
            yield_now().await;
            list.0.store(1, Ordering::Relaxed);
            if is_frozen {
                set_wall_clock(30_000);
            } else {
                pass(AGE);
            }
            assert_eq!(list.said(&members).await, 1, "a change holds for all in time");
            all(requests).await;
            assert_eq!(list.said(&members).await, 1, "a change holds for all in time");
        });
    }
}

/// Time passes and the list changes during reads. What was read later stays.
pub fn what_began_later_stays() {
    let (members, list) = (Members::new(9, AGE, Clock), Arc::<List>::default());
    let requests = ask(&members, &list);
    block_on(async {
        yield_now().await;
        list.0.store(1, Ordering::Relaxed);
        pass(AGE / 3);
        let began = members.now();
        yield_now().await;
        members.keep(&ALICE, began, 1);
        all(requests).await;
        assert_eq!(members.get(&ALICE), Some(1), "what began later stays");
    });
}

/// The wall clock was an hour ahead when a value was read. Once that value is old, a new one is kept in its place.
pub fn what_is_old_makes_room() {
    const AHEAD_MS: i64 = 3_600_000;
    let (members, list) = (Members::new(9, AGE, Clock), Arc::<List>::default());
    set_wall_clock(AHEAD_MS);
    members.keep(&ALICE, members.now(), 0);
    set_wall_clock(-AHEAD_MS);
    pass(AGE);
    list.0.store(1, Ordering::Relaxed);
    let requests = ask(&members, &list);
    block_on(async {
        all(requests).await;
        list.said(&members).await;
        assert_eq!(members.get(&ALICE), Some(1), "what is old makes room");
    });
}

fn ask(members: &Members, list: &Arc<List>) -> [shuttle::future::JoinHandle<()>; 2] {
    [(); 2].map(|()| {
        let (members, list) = (members.clone(), Arc::clone(list));
        spawn(async move {
            until_given_up(list.said(&members)).await;
        })
    })
}
