//! Checks the protocol in every scope, and that each mistake breaks the property that it should.
//!
//! `MODEL_CHECK=NAME cargo test -p model --test check -- --nocapture` runs scopes and mistakes with NAME in their names and prints
//! full counterexamples, whether or not they passed before.

mod passed;
mod teeth;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use model::{Protocol, Run, SCOPES, Scope, longest_run};
use stateright::{Checker, Expectation, HasDiscoveries, Model, Path, Property};
use teeth::{TEETH, Tooth};

/// Largest scope that is also searched for cycles, which takes about as long again.
const MOST_STATES_FOR_CIRCLES: usize = 1_500_000;

enum Check {
    Right(Scope),
    Wrong(Tooth),
}

struct Report {
    text: String,
    good: bool,
    seen: BTreeSet<&'static str>,
}

type Trace = Path<<Protocol as Model>::State, <Protocol as Model>::Action>;

#[test]
fn every_scope_holds_and_every_mistake_is_caught() {
    let wanted = std::env::var("MODEL_CHECK").ok();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()));
    let scopes = SCOPES.into_iter().filter(|scope| is_wanted(scope.name)).map(Check::Right);
    let teeth = TEETH.into_iter().filter(|(mistake, ..)| is_wanted(&format!("{mistake:?}"))).map(Check::Wrong);
    let checks: Vec<Check> = scopes.chain(teeth).collect();
    assert!(!checks.is_empty(), "no scope or mistake has this name: {wanted:?}");
    if wanted.is_some() {
        search(&checks, true);
        return;
    }
    passed::once("every_scope_holds_and_every_mistake_is_caught", || {
        let seen = search(&checks, false);
        let never = names(Expectation::Sometimes).filter(|name| !seen.contains(name)).collect::<Vec<_>>();
        assert!(never.is_empty(), "never seen in any scope: {never:?}");
    });
}

/// Makes all checks, which must be good, and returns what was seen to happen. Prints counterexamples `in_full`.
fn search(checks: &[Check], in_full: bool) -> BTreeSet<&'static str> {
    let (next, all_good, seen) = (AtomicUsize::new(0), Mutex::new(true), Mutex::new(BTreeSet::new()));
    let worker = || {
        while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = match check {
                Check::Right(scope) => right(*scope),
                Check::Wrong(tooth) => wrong(tooth, in_full),
            };
            println!("{}", report.text);
            *all_good.lock().expect("no worker panics") &= report.good;
            seen.lock().expect("no worker panics").extend(report.seen);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|threads| (0..workers).for_each(|_| drop(threads.spawn(worker))));

    assert!(all_good.into_inner().expect("no worker panics"), "the reports are above");
    seen.into_inner().expect("no worker panics")
}

fn names(expectation: Expectation) -> impl Iterator<Item = &'static str> {
    let properties: Vec<Property<Protocol>> = Protocol::right(Scope::QUIET).properties();
    properties.into_iter().filter(move |property| property.expectation == expectation).map(|property| property.name)
}

/// Checks a scope: no property is violated, and every run ends.
fn right(scope: Scope) -> Report {
    let start = Instant::now();
    let protocol = Protocol::right(scope);
    let checker = protocol.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (states, unique, depth) = (checker.state_count(), checker.unique_state_count(), checker.max_depth() - 1);
    let mut text = format!("scope {:<28} {states:>9} states {unique:>8} unique, depth {depth:>2}", scope.name);
    let discoveries = checker.discoveries();
    let mut good = checker.is_done();
    for (name, path) in names(Expectation::Always).filter_map(|name| Some((name, discoveries.get(name)?))) {
        good = false;
        let _ = write!(text, "\n  VIOLATED: {name}{}", in_words(path));
    }
    if unique <= MOST_STATES_FOR_CIRCLES {
        match longest_run(&protocol) {
            Run::Ends(steps) => _ = write!(text, ", every run ends within {steps} steps"),
            Run::Circles(steps) => {
                good = false;
                let _ = write!(text, "\n  GOES ROUND FOR EVER: {steps:#?}");
            }
        }
    }
    let _ = write!(text, ", {:.1} s", start.elapsed().as_secs_f32());
    Report { text, good, seen: discoveries.into_keys().collect() }
}

/// Checks that a mistake is caught by its property.
fn wrong(tooth: &Tooth, in_full: bool) -> Report {
    let (mistake, _, caught_by) = tooth;
    let name = format!("{mistake:?}");
    let Some(path) = shortest(tooth) else {
        let text = format!("mistake {name:<21} NOT CAUGHT by: {caught_by}");
        return Report { text, good: false, seen: BTreeSet::new() };
    };
    let steps = path.clone().into_actions().len();
    let mut text = format!("mistake {name:<21} caught in {steps:>2} steps by: {caught_by}");
    if in_full {
        text.push_str(&in_words(&path));
    }
    Report { text, good: true, seen: BTreeSet::new() }
}

/// Finds the shortest counterexample: the checker may find a longer one first, so this asks until none is shorter.
fn shortest(&(mistake, scope, caught_by): &Tooth) -> Option<Trace> {
    let protocol = Protocol { scope, mistake: Some(mistake) };
    let mut found: Option<Trace> = None;
    loop {
        let mut checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into()));
        if let Some(path) = &found {
            checker = checker.target_max_depth(path.clone().into_states().len());
        }
        match checker.spawn_bfs().join().discovery(caught_by) {
            Some(path) => found = Some(path),
            None => return found,
        }
    }
}

fn in_words(path: &Trace) -> String {
    let mut text = String::new();
    for (state, action) in path.clone().into_vec() {
        let Some(action) = action else {
            let _ = write!(text, "\n  and then: {:?}\n  {:?}\n  {:?}", state.redis, state.ledger, state.jobs);
            break;
        };
        let _ = write!(text, "\n  {action:?}");
    }
    text
}
