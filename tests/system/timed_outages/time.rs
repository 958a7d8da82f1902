//! One clock for functions and Redis, which only a test moves on.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicI64;

use crate::prelude::*;

/// The library that makes Redis read this clock, compiled by this process.
static SHIM: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = local::paths::root().join("tests/system/timed_outages/clock.c");
    let (new, shim) = (own_file("redis-clock", "new"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("redis-clock.so"));
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&new).arg(&source).status();
    assert!(compiled.expect("there is a C compiler").success(), "{}", source.display());
    std::fs::rename(new, &shim).unwrap();
    shim
});

fn own_file(name: &str, end: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.{end}", std::process::id()))
}

pub(super) struct Time {
    clock: Clock,
    moved_ms: &'static AtomicI64,
    /// What the clock showed when it was last moved.
    shown: EpochMs,
    /// Tells Redis how far the clock is moved.
    file: File,
    path: PathBuf,
}

impl Time {
    pub(super) fn new() -> Self {
        // Not a patient one: what is shown here is how long the functions wait.
        let moved_ms: &AtomicI64 = Box::leak(Box::default());
        let clock = Clock::moved_by_ms(moved_ms);
        let path = own_file(&format!("moved-{}", Uuid::now_v7().simple()), "ms");
        let file = OpenOptions::new().create_new(true).write(true).open(&path).unwrap();
        let time = Self { clock, moved_ms, shown: clock.now(), file, path };
        time.move_by(0);
        time
    }

    pub(super) const fn clock(&self) -> Clock {
        self.clock
    }

    /// The environment of a Redis that follows this clock.
    pub(super) fn variables(&self) -> [(String, String); 2] {
        let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
        [("LD_PRELOAD".to_owned(), text(&SHIM)), ("MOVED_MS_FILE".to_owned(), text(&self.path))]
    }

    /// Moves the clock to this many seconds after the end of the last call, or not at all if work has taken longer.
    /// Redis may take a moment to see it.
    pub(super) fn pass(&mut self, seconds: u32) {
        let passed_ms = self.clock.now().0 - self.shown.0;
        self.move_by((i64::from(seconds) * 1000 - passed_ms).max(0));
        self.shown = self.clock.now();
    }

    fn move_by(&self, ms: i64) {
        let moved_ms = self.moved_ms.fetch_add(ms, Ordering::Relaxed) + ms;
        self.file.write_all_at(&moved_ms.to_ne_bytes(), 0).unwrap();
    }
}

impl Drop for Time {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
