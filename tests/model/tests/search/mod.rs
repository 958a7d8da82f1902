//! How the tests of all models search them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use model::{DrawProtocol, LaneProtocol, Protocol, ReadsProtocol, Run, longest_run};
use stateright::{Checker, Expectation, HasDiscoveries, Model, Path};

/// A model in a scope, right or with a mistake.
pub(crate) trait Searched:
    Model<State: Clone + Debug + PartialEq + Hash + Send + Sync + 'static, Action: Clone + Debug + PartialEq>
    + Copy
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl Searched for DrawProtocol {}
impl Searched for LaneProtocol {}
impl Searched for Protocol {}
impl Searched for ReadsProtocol {}

/// No property is violated. Returns the number of different states, and what happens in some of them.
pub(crate) fn holds<M: Searched>(protocol: M, name: &str) -> (usize, BTreeSet<&'static str>) {
    let begun = Instant::now();
    let checker = protocol.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth() - 1);
    println!("{name}: {states} different states, depth {depth}, {:.1} s", begun.elapsed().as_secs_f32());
    let mut found = checker.discoveries();
    for violated in names(protocol, Expectation::Always) {
        if let Some(path) = found.remove(violated) {
            panic!("{name} violates: {violated}{}", in_words(path));
        }
    }
    assert!(checker.is_done(), "{name} is not searched to its end");
    (states, found.into_keys().collect())
}

/// What should happen somewhere does.
pub(crate) fn all_happens(protocol: impl Searched, seen: &BTreeSet<&'static str>) {
    let mut never = names(protocol, Expectation::Sometimes);
    never.retain(|name| !seen.contains(name));
    assert!(never.is_empty(), "never seen in any scope: {never:?}");
}

/// Without cycles every run ends, and a property says what holds at the end.
pub(crate) fn ends(protocol: impl Searched, least_steps: usize) {
    let run = longest_run(&protocol);
    assert!(matches!(run, Run::Ends(steps) if steps > least_steps), "{protocol:?}: {run:#?}");
}

pub(crate) fn is_caught(protocol: impl Searched, mistake: impl Debug, caught_by: &'static str) {
    let checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into())).spawn_bfs().join();
    let Some(path) = checker.discovery(caught_by) else { panic!("{mistake:?} is not caught by: {caught_by}") };
    println!("{mistake:?} is caught by: {caught_by}{}", in_words(path));
}

fn names<M: Searched>(protocol: M, expectation: Expectation) -> Vec<&'static str> {
    let properties = protocol.properties().into_iter().filter(|property| property.expectation == expectation);
    properties.map(|property| property.name).collect()
}

fn in_words(path: Path<impl Debug, impl Debug>) -> String {
    let steps = path.into_vec().into_iter().map(|(state, action)| match action {
        Some(action) => format!("\n  {action:?}"),
        None => format!("\n  and then: {state:?}"),
    });
    steps.collect()
}
