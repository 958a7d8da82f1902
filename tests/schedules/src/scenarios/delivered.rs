//! Buyers are told of a change on several connections.

use super::delivered::Delivered;
use crate::prelude::*;

/// Two connections are told at once.
pub fn whoever_was_told_is_known() {
    let delivered = Delivered::default();
    let posts = ["first", "second"].map(|connection| {
        let delivered = delivered.clone();
        thread::spawn(move || delivered.note("record", connection))
    });
    for post in posts {
        post.join().unwrap();
    }
    assert!(["first", "second"].iter().all(|to| delivered.has("record", to)), "whoever was told is known");
    delivered.forget(["record".to_owned()]);
    assert!(!delivered.has("record", "first"), "a finished batch is forgotten");
}
