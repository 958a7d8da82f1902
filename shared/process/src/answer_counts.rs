use std::collections::BTreeMap;

use super::sync::{Mutex, PoisonError};

/// This process's counts of answers about one round by code, a bounded number, since the last flush to Redis.
#[derive(Debug, Default)]
pub struct AnswerCounts(Mutex<BTreeMap<&'static str, u64>>);

impl AnswerCounts {
    pub fn count(&self, code: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1;
    }

    pub(crate) fn take(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
