use std::collections::HashSet;
use std::sync::Arc;

use moka::policy::EvictionPolicy;

use super::sync::Cache;

/// How many records' deliveries are remembered. Completed batches are forgotten, so the limit is only reached if a
/// process saw hundreds of batches fail; then the oldest are forgotten, and somebody may get a message twice.
const MAX_RECORDS: u64 = 10_000;

/// What this process has delivered to whom, of batches that are not complete.
#[derive(Clone)]
pub struct Delivered(Cache<String, Arc<HashSet<String>>>);

impl Default for Delivered {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_RECORDS).eviction_policy(EvictionPolicy::lru()).build())
    }
}

impl Delivered {
    pub(crate) fn has(&self, record: &str, connection: &str) -> bool {
        self.0.get(record).is_some_and(|told| told.contains(connection))
    }

    pub(crate) fn note(&self, record: &str, connection: &str) {
        self.0.entry_by_ref(record).and_upsert_with(|told| {
            let mut told = told.map(moka::Entry::into_value).unwrap_or_default();
            Arc::make_mut(&mut told).insert(connection.to_owned());
            told
        });
    }

    pub(crate) fn forget(&self, records: impl IntoIterator<Item = String>) {
        for record in records {
            self.0.invalidate(&record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_records_is_bounded_and_the_oldest_are_forgotten() {
        let delivered = Delivered::default();
        for number in 0..MAX_RECORDS * 2 {
            delivered.note(&number.to_string(), "connection");
        }
        delivered.0.run_pending_tasks();
        assert!(delivered.0.entry_count() <= MAX_RECORDS);
        assert!(delivered.has(&(MAX_RECORDS * 2 - 1).to_string(), "connection"));
        assert!(!delivered.has("0", "connection"));
    }
}
