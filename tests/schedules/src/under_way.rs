use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Something that tasks do, and may give up: how many do it now, and the most that did at once.
#[derive(Debug, Default)]
pub struct UnderWay {
    now: AtomicU32,
    most: AtomicU32,
}

#[derive(Debug)]
pub struct Doing<'a>(&'a UnderWay);

impl UnderWay {
    pub fn begin(&self) -> Doing<'_> {
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
        Doing(self)
    }

    /// Begins to do it, as one task at a time may.
    ///
    /// # Panics
    /// With the rule, if another task is doing it.
    pub fn begin_alone(&self, rule: &str) -> Doing<'_> {
        assert!(self.now() == 0, "{rule}");
        self.begin()
    }

    pub fn now(&self) -> u32 {
        self.now.load(Relaxed)
    }

    pub fn most(&self) -> u32 {
        self.most.load(Relaxed)
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}
