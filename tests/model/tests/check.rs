//! Checks the protocol in every scope, and that each mistake breaks the property that it should.
//!
//! `MODEL_CHECK=NAME cargo test -p model --test check -- --nocapture` runs scopes and mistakes with NAME in their names, whether or
//! not they passed before.

mod passed;
mod search;
mod teeth;

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{Protocol, SCOPES, Scope};
use search::{all_happens, ends, holds, is_caught};
use teeth::{TEETH, Tooth};

/// Largest scope that is also searched for cycles, which takes about as long again.
const MOST_STATES_FOR_CIRCLES: usize = 1_500_000;

enum Check {
    Right(Scope),
    Wrong(Tooth),
}

#[test]
fn every_scope_holds_and_every_mistake_is_caught() {
    let wanted = std::env::var("MODEL_CHECK").ok();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()));
    let scopes = SCOPES.into_iter().filter(|scope| is_wanted(scope.name)).map(Check::Right);
    let teeth = TEETH.into_iter().filter(|(mistake, ..)| is_wanted(&format!("{mistake:?}"))).map(Check::Wrong);
    let checks: Vec<Check> = scopes.chain(teeth).collect();
    assert!(!checks.is_empty(), "no scope or mistake has this name: {wanted:?}");
    if wanted.is_some() {
        search_all(&checks);
        return;
    }
    passed::once("every_scope_holds_and_every_mistake_is_caught", || {
        all_happens(Protocol::right(Scope::QUIET), &search_all(&checks));
    });
}

/// Makes all checks on all cores. Returns what was seen to happen.
fn search_all(checks: &[Check]) -> BTreeSet<&'static str> {
    let (next, failed, seen) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let worker = || {
        while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
            // After one that fails, the others are made too.
            let made = catch_unwind(|| match *check {
                Check::Right(scope) => right(scope),
                Check::Wrong((mistake, scope, caught_by)) => {
                    is_caught(Protocol { scope, mistake: Some(mistake) }, mistake, caught_by);
                    BTreeSet::new()
                }
            });
            match made {
                Ok(happens) => seen.lock().expect("nobody panics with it").extend(happens),
                Err(_) => _ = failed.fetch_add(1, Ordering::Relaxed),
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|threads| (0..workers).for_each(|_| drop(threads.spawn(worker))));
    assert_eq!(failed.into_inner(), 0, "the failures are above");
    seen.into_inner().expect("nobody panics with it")
}

/// No property is violated, and every run ends. Returns what happens.
fn right(scope: Scope) -> BTreeSet<&'static str> {
    let protocol = Protocol::right(scope);
    let (states, seen) = holds(protocol, scope.name);
    if states <= MOST_STATES_FOR_CIRCLES {
        ends(protocol, 0);
    }
    seen
}
