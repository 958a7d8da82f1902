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
