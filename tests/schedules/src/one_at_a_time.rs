use std::sync::atomic::{AtomicBool, Ordering};

/// Something that one task at a time may do, and may give up.
#[derive(Debug, Default)]
pub struct OneAtATime(AtomicBool);

#[derive(Debug)]
pub struct Doing<'a>(&'a AtomicBool);

impl OneAtATime {
    /// Begins to do it.
    ///
    /// # Panics
    /// With the rule, if another task is doing it.
    pub fn begin(&self, rule: &str) -> Doing<'_> {
        assert!(!self.0.swap(true, Ordering::Relaxed), "{rule}");
        Doing(&self.0)
    }

    /// Whether a task is doing it.
    pub fn is_being_done(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
