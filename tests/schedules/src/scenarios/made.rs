//! Two handlers ask for a dependency that is not there yet.

use std::any::TypeId;

use super::made::{Dependency, Made};
use crate::prelude::*;

/// Both get the same one.
pub fn all_share_one() {
    let made = Arc::new(Made::default());
    let get = |made: &Made| {
        let make = || {
            step();
            Ok::<Dependency, ()>(Arc::new(1_u32))
        };
        made.get_or_make((TypeId::of::<u32>(), ""), make).unwrap()
    };
    let other = {
        let made = Arc::clone(&made);
        thread::spawn(move || get(&made))
    };
    let (mine, theirs) = (get(&made), other.join().unwrap());
    assert!(Arc::ptr_eq(&mine, &theirs) && Arc::ptr_eq(&mine, &get(&made)), "all share one");
}
