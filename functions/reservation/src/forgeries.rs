use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sale::UserId;

/// So many passes that are none are one strike: a person has an old one now and then.
const PER_STRIKE: u32 = 5;
/// Users counted at once. A process that meets more forgets them all: some MB at most.
const MAX_USERS: usize = 16_384;

/// Passes that were none, counted by user in this process.
#[derive(Debug, Default)]
pub struct Forgeries(Mutex<HashMap<UserId, u32>>);

impl Forgeries {
    /// Counts one. Whether it makes a strike.
    pub(crate) fn count(&self, user: &UserId) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MAX_USERS && !counts.contains_key(user) {
            counts.clear();
        }
        let count = counts.entry(user.clone()).or_default();
        *count += 1;
        if *count == PER_STRIKE {
            counts.remove(user);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: impl ToString) -> UserId {
        name.to_string().parse().unwrap()
    }

    #[test]
    fn every_fifth_of_a_user_is_a_strike() {
        let forgeries = Forgeries::default();
        let strikes: Vec<bool> = (0..10).map(|_| forgeries.count(&user("mallory"))).collect();
        assert_eq!(strikes, [false, false, false, false, true, false, false, false, false, true]);
        assert!(!forgeries.count(&user("bob")));
    }

    #[test]
    fn the_number_of_users_is_bounded() {
        let forgeries = Forgeries::default();
        for number in 0..=MAX_USERS * 2 {
            forgeries.count(&user(number));
        }
        assert!(forgeries.0.lock().unwrap().len() <= MAX_USERS);
    }
}
