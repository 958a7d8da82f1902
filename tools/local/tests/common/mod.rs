//! What tests of commands share. Each test program uses some of it.

#![allow(dead_code)]

use std::path::Path;
use std::time::{Duration, Instant};

use local::paths;
use tempfile::TempDir;

/// Far longer than anything takes, even on a busy machine: nothing waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

/// A folder of this test's own. Dropping it removes it.
pub(crate) fn folder(name: &str) -> TempDir {
    let all = paths::target().join("local");
    std::fs::create_dir_all(&all).unwrap();
    tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(all).unwrap()
}

pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(POLL);
    }
}

pub(crate) async fn until_async<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(POLL).await;
    }
}

/// The processes whose environment names this folder, with their commands. A zombie has no environment.
pub(crate) fn processes_of(folder: &Path) -> Vec<(i32, String)> {
    let folder = folder.to_str().unwrap();
    let read = |path: &Path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).ok();
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let theirs = entries.filter(|path| read(&path.join("environ")).is_some_and(|text| text.contains(folder)));
    let named = theirs.filter_map(|path| {
        let id = path.file_name()?.to_str()?.parse().ok()?;
        Some((id, read(&path.join("cmdline"))?.replace('\0', " ")))
    });
    named.collect()
}
