use std::time::Duration;

use sale::{EpochMs, UserId};

use super::sync::Cache;

/// How many users are remembered, in some MB. Violations of a forgotten one are reported again.
const MAX_USERS: u64 = 16_384;
/// Within this time, in milliseconds, no more violations are reported than it takes to block the user once.
const WINDOW_MS: i64 = 1000;
/// How long an idle user is remembered. A user who is blocked for longer costs a write now and then.
const REMEMBERED_FOR: Duration = Duration::from_secs(600);

/// Remembers which users send forged passes, so that a flood of them does not flood the ledger.
pub struct Forgeries(Cache<UserId, Told>);

#[derive(Debug, Clone, Copy)]
struct Told {
    /// The start of the window, and the violations reported in it.
    since_ms: EpochMs,
    violations: u32,
    blocked_until_ms: EpochMs,
}

impl Default for Forgeries {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_USERS).time_to_idle(REMEMBERED_FOR).build())
    }
}

impl Forgeries {
    /// Whether to report another forged pass to the ledger: not for a blocked user, and within a second not more than
    /// block one.
    pub fn is_to_be_told(&self, user: &UserId, violations: u32, now: EpochMs) -> bool {
        let nothing = Told { since_ms: now, violations: 0, blocked_until_ms: EpochMs(0) };
        let mut is_told = false;
        self.0.entry_by_ref(user).and_upsert_with(|told| {
            let mut told = told.map_or(nothing, moka::Entry::into_value);
            if now.0 - told.since_ms.0 >= WINDOW_MS {
                told = Told { since_ms: now, violations: 0, ..told };
            }
            is_told = now >= told.blocked_until_ms && told.violations < violations;
            told.violations += u32::from(is_told);
            told
        });
        is_told
    }

    pub fn note_blocked(&self, user: &UserId, until_ms: EpochMs) {
        self.0.entry_by_ref(user).and_upsert_with(|told| {
            let told = told.map(moka::Entry::into_value);
            let told = told.unwrap_or(Told { since_ms: EpochMs(0), violations: 0, blocked_until_ms: until_ms });
            Told { blocked_until_ms: until_ms, ..told }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: impl ToString) -> UserId {
        name.to_string().parse().unwrap()
    }

    #[test]
    fn the_ledger_hears_no_more_in_a_second_than_block_a_user() {
        let forgeries = Forgeries::default();
        let told = |name, at| (0..100).filter(|_| forgeries.is_to_be_told(&user(name), 10, EpochMs(at))).count();
        assert_eq!(told("mallory", 5_000), 10);
        assert_eq!(told("mallory", 5_999), 0);
        assert_eq!(told("eve", 5_999), 10);
        assert_eq!(told("mallory", 6_000), 10);
    }

    #[test]
    fn nor_of_who_is_blocked() {
        let forgeries = Forgeries::default();
        let mallory = user("mallory");
        assert!(forgeries.is_to_be_told(&mallory, 10, EpochMs(5_000)));
        forgeries.note_blocked(&mallory, EpochMs(9_000));
        assert!(!forgeries.is_to_be_told(&mallory, 10, EpochMs(8_999)));
        assert!(forgeries.is_to_be_told(&mallory, 10, EpochMs(9_000)));
    }

    #[test]
    fn the_number_of_users_is_bounded() {
        let forgeries = Forgeries::default();
        for number in 0..MAX_USERS * 2 {
            forgeries.is_to_be_told(&user(number), 10, EpochMs(5_000));
        }
        forgeries.0.run_pending_tasks();
        assert!(forgeries.0.entry_count() <= MAX_USERS);
    }
}
