//! Two handlers ask for a dependency that is not there yet.
//! Sources: shared/context/src/made.rs

use std::any::TypeId;

use super::made::{Dependency, Made};
use crate::prelude::*;

fn get(made: &Made) -> Dependency {
    let make = || {
        step();
        Ok::<Dependency, ()>(Arc::new(1_u32))
    };
    made.get_or_make((TypeId::of::<u32>(), ""), make).unwrap()
}

/// Both get the same one.
// Under every schedule.
// Mistake: of two made at the same time, the second replaces the first.
// - Ok(Arc::clone(made().entry(key).or_insert(new)))
// + made().insert(key, Arc::clone(&new));
// + Ok(new)
pub fn all_share_one() {
    let made = Arc::new(Made::default());
    let (theirs, mine) = at_once_and(&made, 1, async |made, _| get(made), async |made| get(made));
    assert!(Arc::ptr_eq(&mine, &theirs[0]) && Arc::ptr_eq(&mine, &get(&made)), "all share one");
}
