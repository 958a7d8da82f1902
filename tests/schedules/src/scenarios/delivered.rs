//! Buyers are told of a change on several connections.
//! Sources: functions/notifier/src/delivered.rs

use super::delivered::Delivered;
use crate::prelude::*;

/// Two connections are told at once.
// Under every schedule.
// Mistake: an entry is changed in two steps.
// - self.0.entry_by_ref(record).and_upsert_with(|told| {
// - let mut told = told.map(moka::Entry::into_value).unwrap_or_default();
// - Arc::make_mut(&mut told).insert(connection.to_owned());
// - told
// - });
// + let mut told = self.0.get(record).unwrap_or_default();
// + Arc::make_mut(&mut told).insert(connection.to_owned());
// + self.0.insert(record.to_owned(), told);
pub fn whoever_was_told_is_known() {
    let delivered = Arc::new(Delivered::default());
    at_once(&delivered, 2, async |delivered, number| delivered.note("record", ["first", "second"][number]));
    assert!(["first", "second"].iter().all(|to| delivered.has("record", to)), "whoever was told is known");
    delivered.forget(["record".to_owned()]);
    assert!(!delivered.has("record", "first"), "a finished batch is forgotten");
}
