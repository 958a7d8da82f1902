use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How often this process has given which answer to requests for one round since it last told Redis. It has at most as many
/// entries as there are codes, since a code is a literal.
#[derive(Debug, Default)]
pub struct AnswerCounts(Mutex<BTreeMap<&'static str, u64>>);

impl AnswerCounts {
    /// One more.
    pub fn count(&self, code: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1;
    }

    pub(crate) fn take(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
