use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use crate::stream::StateChange;

/// Most records of which it is kept who was told. Batches that came through are forgotten, so there are so many only if a
/// process saw hundreds of batches fail; then the oldest are forgotten, and somebody may hear a thing twice.
const MAX_RECORDS: u64 = 10_000;

/// Who was told what by this process, of batches that are not through.
#[derive(Clone)]
pub struct Delivered(Cache<String, Arc<HashSet<String>>>);

impl Default for Delivered {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_RECORDS).eviction_policy(EvictionPolicy::lru()).build())
    }
}

impl fmt::Debug for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivered").finish_non_exhaustive()
    }
}

impl Delivered {
    pub(crate) fn has(&self, change: &StateChange, connection: &str) -> bool {
        self.0.get(&name(change)).is_some_and(|told| told.contains(connection))
    }

    pub(crate) fn note(&self, change: &StateChange, connection: &str) {
        self.0.entry(name(change)).and_upsert_with(|told| {
            let mut told = told.map(moka::Entry::into_value).unwrap_or_default();
            Arc::make_mut(&mut told).insert(connection.to_owned());
            told
        });
    }

    pub(crate) fn forget(&self, changes: &[StateChange]) {
        for change in changes {
            self.0.invalidate(&name(change));
        }
    }
}

/// Sequence numbers are unique in a shard, and an order is in one.
fn name(change: &StateChange) -> String {
    format!("{} {}", change.sequence_number, change.order.claim.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::changes;

    #[test]
    fn the_number_of_records_is_bounded_and_the_oldest_are_forgotten() {
        let placed = serde_json::from_str(include_str!("../../../events/notifier/placed.json")).unwrap();
        let change = changes(placed).remove(0);
        let numbered = |number: u64| StateChange { sequence_number: number.to_string(), ..change.clone() };
        let delivered = Delivered::default();
        for number in 0..MAX_RECORDS * 2 {
            delivered.note(&numbered(number), "connection");
        }
        delivered.0.run_pending_tasks();
        assert!(delivered.0.entry_count() <= MAX_RECORDS);
        assert!(delivered.has(&numbered(MAX_RECORDS * 2 - 1), "connection"));
        assert!(!delivered.has(&numbered(0), "connection"));
    }
}
