use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use shuttle::future::yield_now;

/// Something that tasks do, and may give up: how many do it now, the most that did at once, and how often it was begun.
#[derive(Debug, Default)]
pub struct UnderWay {
    now: AtomicU32,
    most: AtomicU32,
    times: AtomicU32,
}

#[derive(Debug)]
pub struct Doing<'a>(&'a UnderWay);

impl UnderWay {
    pub fn begin(&self) -> Doing<'_> {
        self.times.fetch_add(1, Relaxed);
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
        Doing(self)
    }

    /// Begins to do it. Only one task at a time may: panics with the rule if another task is doing it.
    pub fn begin_alone(&self, rule: &str) -> Doing<'_> {
        assert!(self.now() == 0, "{rule}");
        self.begin()
    }

    /// Does it alone. Other tasks may run before and after what is done in the middle, such as while an answer is on its way.
    pub async fn alone<T>(&self, rule: &str, middle: impl FnOnce() -> T) -> T {
        let doing = self.begin_alone(rule);
        yield_now().await;
        let done = middle();
        yield_now().await;
        drop(doing);
        done
    }

    pub fn now(&self) -> u32 {
        self.now.load(Relaxed)
    }

    pub fn most(&self) -> u32 {
        self.most.load(Relaxed)
    }

    pub fn times(&self) -> u32 {
        self.times.load(Relaxed)
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}
