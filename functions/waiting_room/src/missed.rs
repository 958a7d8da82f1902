use std::collections::HashMap;
use std::sync::Arc;

use sale::{RoundId, UserId};

use super::sync::{Mutex, PoisonError};

/// How many users unknown to Redis a process remembers: one or two megabytes, and more than come in an outage.
const MOST_MISSED: usize = 10_000;

/// Users whom this process gave tickets while Redis was away. After that, each new ticket also tells Redis about one of
/// them, so that they are counted: the speed of the line depends on the number of people.
#[derive(Debug, Clone, Default)]
pub struct Missed(Arc<Mutex<HashMap<RoundId, Vec<UserId>>>>);

impl Missed {
    /// Remembers a user, unless there are too many.
    pub(crate) fn note(&self, round: &RoundId, user: &UserId) {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if missed.values().map(Vec::len).sum::<usize>() < MOST_MISSED {
            missed.entry(round.clone()).or_default().push(user.clone());
        }
    }

    /// Tells Redis about one user of this round. If that fails, or the request ends before, the user stays remembered.
    pub(crate) async fn tell_one(&self, round: &RoundId, tell: impl AsyncFnOnce(&UserId) -> bool) {
        let Some(user) = self.take(round) else { return };
        let mut taken = Taken { missed: self, round, user: &user, is_told: false };
        taken.is_told = tell(&user).await;
    }

    /// How many users Redis has yet to be told about.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum()
    }

    /// Forgets the users of this round, which has opened: Redis would take them for late.
    pub(crate) fn forget(&self, round: &RoundId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(round);
    }

    fn take(&self, round: &RoundId) -> Option<UserId> {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let users = missed.get_mut(round)?;
        let user = users.pop();
        if users.is_empty() {
            missed.remove(round);
        }
        user
    }
}

struct Taken<'a> {
    missed: &'a Missed,
    round: &'a RoundId,
    user: &'a UserId,
    is_told: bool,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.is_told {
            self.missed.note(self.round, self.user);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures::FutureExt;
    use sale::RoundNumber;

    use super::*;

    fn round(sale: &str) -> RoundId {
        RoundId { sale: sale.parse().unwrap(), number: RoundNumber(1) }
    }

    fn noting(users: &[(&str, &str)]) -> Missed {
        let missed = Missed::default();
        for (sale, user) in users {
            missed.note(&round(sale), &user.parse().unwrap());
        }
        missed
    }

    /// The user whom Redis is told about next, if any.
    fn told(missed: &Missed, sale: &str, hears: bool) -> Option<String> {
        let mut told = None;
        let tell = async |user: &UserId| {
            told = Some(user.to_string());
            hears
        };
        missed.tell_one(&round(sale), tell).now_or_never().unwrap();
        told
    }

    #[test]
    fn redis_is_told_of_each_until_it_hears() {
        let missed = noting(&[("lamp", "alice")]);
        assert_eq!(told(&missed, "lamp", false).as_deref(), Some("alice"));
        assert_eq!(told(&missed, "lamp", true).as_deref(), Some("alice"));
        assert_eq!(told(&missed, "lamp", true), None);
    }

    /// A request is dropped when its time is over.
    #[test]
    fn who_was_to_be_told_of_by_a_request_that_ended_is_still_noted() {
        let missed = noting(&[("lamp", "alice")]);
        assert_eq!(missed.tell_one(&round("lamp"), async |_: &UserId| pending().await).now_or_never(), None);
        assert_eq!(told(&missed, "lamp", true).as_deref(), Some("alice"));
    }

    #[test]
    fn those_of_an_opened_sale_take_no_room() {
        let missed = Missed::default();
        for number in 0..MOST_MISSED {
            missed.note(&round("lamp"), &format!("user-{number}").parse().unwrap());
        }
        missed.note(&round("chair"), &"bob".parse().unwrap());
        assert_eq!(told(&missed, "chair", true), None, "there is no room left");
        missed.forget(&round("lamp"));
        assert_eq!(told(&missed, "lamp", true), None);
        missed.note(&round("chair"), &"bob".parse().unwrap());
        assert_eq!(told(&missed, "chair", true).as_deref(), Some("bob"));
    }

    #[test]
    fn those_of_one_sale_do_not_wait_for_those_of_another() {
        let missed = noting(&[("lamp", "alice"), ("chair", "bob")]);
        assert_eq!(told(&missed, "lamp", true).as_deref(), Some("alice"));
        assert_eq!(told(&missed, "chair", true).as_deref(), Some("bob"));
    }
}
