//! Requests, which may be dropped, tell Redis of users whom it missed.

use std::sync::Mutex;

use sale::UserId;

use super::missed::Missed;
use crate::prelude::*;

/// Two users were missed, and two requests report one each. Later requests report any that are left. A third user was
/// missed, but the round has opened since.
pub fn each_user_is_told_of_once() {
    let (missed, told) = (Missed::default(), Arc::<Mutex<Vec<UserId>>>::default());
    for user in ["alice", "bob"] {
        missed.note(&round(), &user.parse().unwrap());
    }
    let requests = [(); 2].map(|()| {
        let (missed, told) = (missed.clone(), Arc::clone(&told));
        spawn(async move {
            let _ = until_given_up(tell(&missed, &told)).await;
        })
    });
    block_on(async {
        all(requests).await;
        for _ in 0..2 {
            tell(&missed, &told).await;
        }
        missed.note(&round(), &"carol".parse().unwrap());
        missed.forget(&round());
        tell(&missed, &told).await;
    });
    let mut told: Vec<String> = heard(&told).iter().map(ToString::to_string).collect();
    told.sort();
    assert_eq!(told, ["alice", "bob"], "each user is told of once");
}

async fn tell(missed: &Missed, told: &Mutex<Vec<UserId>>) {
    let tell = async |user: &UserId| {
        yield_now().await;
        heard(told).push(user.clone());
        true
    };
    missed.tell_one(&round(), tell).await;
}

fn heard(told: &Mutex<Vec<UserId>>) -> std::sync::MutexGuard<'_, Vec<UserId>> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

fn round() -> RoundId {
    RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(1) }
}
