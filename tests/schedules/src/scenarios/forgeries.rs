//! A user sends forged passes and is blocked by the ledger.
//! Sources: shared/process/src/forgeries.rs

use sale::UserId;

use super::forgeries::Forgeries;
use crate::prelude::*;

const BLOCKED_UNTIL: EpochMs = EpochMs(9_000);

/// Three forged passes come within a second; one is enough to block the user.
// Under every schedule.
// Mistake "no more are reported": an entry is changed in two steps.
// - self.0.entry_by_ref(user).and_upsert_with(|told| {
// - let mut told = told.map_or(nothing, moka::Entry::into_value);
// + let mut change = |told: Option<Told>| {
// + let mut told = told.unwrap_or(nothing);
// - told.violations += u32::from(is_told);
// - told
// - });
// + told.violations += u32::from(is_told);
// + told
// + };
// + let changed = change(self.0.get(user));
// + self.0.insert(user.clone(), changed);
pub fn no_more_are_reported_than_block_a_user() {
    let state = Arc::new((Forgeries::default(), user()));
    let told = at_once(&state, 3, async |(forgeries, mallory), _| forgeries.is_to_be_told(mallory, 1, EpochMs(5_000)));
    assert_eq!(told.into_iter().filter(|told| *told).count(), 1, "no more are reported than block a user");
}

/// The user is blocked while another forged pass comes.
// Under every schedule.
// Mistake: an entry is changed in two steps.
pub fn a_blocked_user_is_not_reported() {
    let state = Arc::new((Forgeries::default(), user()));
    let (forgeries, mallory) = &*state;
    forgeries.is_to_be_told(mallory, 10, EpochMs(5_000));
    let pass = async |(forgeries, mallory): &(Forgeries, UserId), _: usize| {
        forgeries.is_to_be_told(mallory, 10, EpochMs(5_001))
    };
    at_once_and(&state, 1, pass, async |(forgeries, mallory)| forgeries.note_blocked(mallory, BLOCKED_UNTIL));
    assert!(!forgeries.is_to_be_told(mallory, 10, EpochMs(5_002)), "a blocked user is not reported");
}

fn user() -> UserId {
    "mallory".parse().unwrap()
}
