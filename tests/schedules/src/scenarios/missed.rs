//! Requests, which may be dropped, tell Redis of users whom it missed.
//! Sources: functions/waiting_room/src/missed.rs

use std::sync::Mutex;

use sale::UserId;

use super::missed::Missed;
use crate::prelude::*;

/// Two users were missed; two requests report one each, later ones the rest. A third one's round has opened since.
// Mistake: a user is lost when the request that was to report them is dropped.
// - self.missed.note(self.round, self.user);
// + let _ = (self.missed, self.round, self.user);
// Mistake: a user is read under one lock and taken under another.
// - let user = users.pop();
// + let user = users.last().cloned();
// + drop(missed);
// + let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
// + let users = missed.get_mut(round)?;
// + users.pop();
pub fn each_user_is_told_of_once() {
    let state = Arc::<(Missed, Mutex<Vec<UserId>>)>::default();
    let missed = &state.0;
    for user in ["alice", "bob"] {
        missed.note(&lamps(), &user.parse().unwrap());
    }
    at_once(&state, 2, async |state, _| {
        let _ = until_given_up(tell(state)).await;
    });
    block_on(async {
        for _ in 0..2 {
            tell(&state).await;
        }
        missed.note(&lamps(), &"carol".parse().unwrap());
        missed.forget(&lamps());
        tell(&state).await;
    });
    let mut told: Vec<String> = heard(&state.1).iter().map(ToString::to_string).collect();
    told.sort();
    assert_eq!(told, ["alice", "bob"], "each user is told of once");
}

async fn tell((missed, told): &(Missed, Mutex<Vec<UserId>>)) {
    let tell = async |user: &UserId| {
        yield_now().await;
        heard(told).push(user.clone());
        true
    };
    missed.tell_one(&lamps(), tell).await;
}

fn heard(told: &Mutex<Vec<UserId>>) -> std::sync::MutexGuard<'_, Vec<UserId>> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}
