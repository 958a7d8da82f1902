use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::stream::Step;

/// Most records of which it is kept who was told. Batches that came through are forgotten, so there are so many only if a
/// process saw hundreds of batches fail; then all is forgotten, and somebody may hear a thing twice.
const MAX_RECORDS: usize = 10_000;

/// Who was told what by this process, of batches that are not through.
#[derive(Debug, Clone, Default)]
pub struct Delivered(Arc<Mutex<HashMap<String, HashSet<String>>>>);

impl Delivered {
    pub(crate) fn has(&self, step: &Step, connection: &str) -> bool {
        self.records().get(&name(step)).is_some_and(|told| told.contains(connection))
    }

    pub(crate) fn note(&self, step: &Step, connection: &str) {
        let mut records = self.records();
        if records.len() >= MAX_RECORDS {
            records.clear();
        }
        records.entry(name(step)).or_default().insert(connection.to_owned());
    }

    pub(crate) fn forget(&self, steps: &[Step]) {
        let mut records = self.records();
        for step in steps {
            records.remove(&name(step));
        }
    }

    fn records(&self) -> MutexGuard<'_, HashMap<String, HashSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sequence numbers are unique in a shard, and an order is in one.
fn name(step: &Step) -> String {
    format!("{} {}", step.sequence_number, step.order.claim.id)
}
