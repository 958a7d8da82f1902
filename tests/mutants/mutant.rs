//! The switches of the mutants. Only the copy that `run.py` compiles has this crate.

use std::cell::RefCell;
use std::collections::HashSet;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{LazyLock, Mutex};

/// The mutant that is on in this process.
static CHOSEN: LazyLock<Option<u32>> = LazyLock::new(|| env::var("MUTANT").ok()?.parse().ok());

/// Takes a line for each mutant and each thread that reaches its switch. The test harness names threads after tests.
static HITS: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    let path = env::var_os("MUTANT_HITS")?;
    Some(Mutex::new(OpenOptions::new().create(true).append(true).open(path).expect("a file for the hits")))
});

thread_local! {
    static SEEN: RefCell<HashSet<u32>> = RefCell::default();
}

/// Whether this mutant is on.
pub fn on(mutant: u32) -> bool {
    if let Some(hits) = &*HITS
        && SEEN.try_with(|seen| seen.borrow_mut().insert(mutant)).unwrap_or(false)
    {
        let thread = std::thread::current();
        let line = format!("{mutant} {}\n", thread.name().unwrap_or("-"));
        hits.lock().expect("no thread panics here").write_all(line.as_bytes()).expect("the hit is written");
    }
    *CHOSEN == Some(mutant)
}
