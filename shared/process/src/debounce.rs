use std::sync::Arc;
use std::time::Duration;

use super::sync::{AtomicBool, Ordering, sleep, spawn};

/// Runs a task after a pause, once for all callers until then. Later ones do not put it off.
#[derive(Debug, Default)]
pub(crate) struct Debounce(Arc<AtomicBool>);

impl Debounce {
    /// Runs the result of `work` after the pause, in a separate task, unless one is already planned. It begins after
    /// this returns, so it sees everything that was there before.
    pub(crate) fn ask<F>(&self, pause: Duration, work: impl FnOnce() -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let (asked, work) = (Arc::clone(&self.0), work());
        spawn(async move {
            sleep(pause).await;
            asked.store(false, Ordering::Release);
            work.await;
        });
    }
}
