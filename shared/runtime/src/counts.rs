use super::sync::{Mutex, PoisonError};

/// Callbacks that count something before metrics are published.
#[derive(Default)]
pub(crate) struct Counts(Mutex<Vec<Box<dyn Fn() + Send>>>);

impl Counts {
    pub(crate) fn add(&self, count: impl Fn() + Send + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(count));
    }

    /// Calls all of them. A concurrent caller waits and then calls them again, so that nothing counted so far is missing.
    pub(crate) fn call_all(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|count| count());
    }
}
