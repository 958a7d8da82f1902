//! A user sends forged passes and is blocked by the ledger.

use sale::UserId;

use super::forgeries::Forgeries;
use crate::prelude::*;

const BLOCKED_UNTIL: EpochMs = EpochMs(9_000);

/// Three forged passes come within a second; one is enough to block the user.
pub fn no_more_are_reported_than_block_a_user() {
    let (forgeries, mallory) = (Arc::new(Forgeries::default()), user());
    let passes = [(); 3].map(|()| {
        let (forgeries, mallory) = (Arc::clone(&forgeries), mallory.clone());
        thread::spawn(move || forgeries.is_to_be_told(&mallory, 1, EpochMs(5_000)))
    });
    let told = passes.into_iter().map(|pass| usize::from(pass.join().unwrap()));
    assert_eq!(told.sum::<usize>(), 1, "no more are reported than block a user");
}

/// The user is blocked while another forged pass comes.
pub fn a_blocked_user_is_not_reported() {
    let (forgeries, mallory) = (Arc::new(Forgeries::default()), user());
    forgeries.is_to_be_told(&mallory, 10, EpochMs(5_000));
    let pass = {
        let (forgeries, mallory) = (Arc::clone(&forgeries), mallory.clone());
        thread::spawn(move || forgeries.is_to_be_told(&mallory, 10, EpochMs(5_001)))
    };
    forgeries.note_blocked(&mallory, BLOCKED_UNTIL);
    pass.join().unwrap();
    assert!(!forgeries.is_to_be_told(&mallory, 10, EpochMs(5_002)), "a blocked user is not reported");
}

fn user() -> UserId {
    "mallory".parse().unwrap()
}
