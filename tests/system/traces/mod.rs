//! Records runs of the functions on the real parts. The model must have a path that looks the same from outside, and
//! none for runs with a fault in them, which are recorded likewise.

mod chance;
mod mutated;
mod right;
mod world;

use history::{Report, Rule};
use model::trace::{Effect, Explained, Trace, Unexplained, What, explain};
use tests::trace_path;

use chance::by_chance;
use mutated::MUTATED;
use right::{RIGHT, Scenario};
use world::World;

use crate::histories::passes;
use crate::prelude::*;

const AT_ONCE: usize = 6;
/// Mistakes of which clients hear something, or of which the ledger shows that it is not what they heard. The history
/// checker knows nothing of effects, so it needs no model to find these.
const SEEN: [(&str, Rule); 3] = [
    ("reserve-without-the-limit", Rule::OverTheLimit),
    ("order-without-the-unit-guard", Rule::UnitOwnedTwice),
    ("expiry-of-what-is-paid", Rule::WentBack),
];
const CHANCES: u64 = 3;

async fn recorded(scenario: &Scenario, world: &World, name: &str) -> Trace {
    world.warm_up().await;
    (scenario.run)(world).await;
    let trace = world.trace().await;
    std::fs::write(trace_path(name), trace.to_lines()).unwrap();
    trace
}

struct Run {
    trace: Trace,
    /// What the history alone tells, and the rule that the mistake breaks, if it is one of [`SEEN`].
    seen: Option<(Rule, Report)>,
}

impl Run {
    async fn recorded(scenario: &Scenario, world: &World, name: &str) -> Self {
        let trace = recorded(scenario, world, name).await;
        let seen = match SEEN.iter().find(|(seen, _)| *seen == scenario.name) {
            Some((_, rule)) => Some((*rule, history::check(&world.history(name).await))),
            None => None,
        };
        Self { trace, seen }
    }
}

fn judged(name: &str, trace: &Trace) -> Result<Explained, Box<Unexplained>> {
    let begun = Instant::now();
    let judged = explain(trace).unwrap();
    let seconds = begun.elapsed().as_secs_f32();
    match &judged {
        Ok(explained) => eprintln!("{name}: {explained}, {seconds:.3} s"),
        Err(unexplained) => eprintln!("{name}, {seconds:.3} s: {unexplained}"),
    }
    judged
}

/// Whether the model explains a trace without breaking a property of its own.
fn is_right(judged: &Result<Explained, Box<Unexplained>>) -> bool {
    judged.as_ref().is_ok_and(|explained| explained.broken.is_empty())
}

/// Whether to run a scenario: all of them, or those whose names contain the environment variable `TRACES`.
fn wanted(name: &str) -> bool {
    std::env::var("TRACES").map_or(true, |wanted| name.contains(&wanted))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_explains_what_the_functions_do() {
    let runs = stream::iter(RIGHT.iter().filter(|scenario| wanted(scenario.name))).map(async |scenario| {
        let world = World::new(scenario.units, scenario.limit).await;
        let trace = recorded(scenario, &world, scenario.name).await;
        passes(scenario.name, &world.history(scenario.name).await);
        (scenario.name, judged(scenario.name, &trace))
    });
    let judged: Vec<_> = runs.buffer_unordered(AT_ONCE).collect().await;
    let bad: Vec<&str> = judged.iter().filter(|(_, judged)| !is_right(judged)).map(|(name, _)| *name).collect();
    assert!(bad.is_empty(), "the model cannot explain {bad:?}: see above, and the traces in target/traces");
}

/// The environment variables `TRACE_SEED` and `TRACE_RUNS` set the first seed and the number of runs.
#[tokio::test(flavor = "multi_thread")]
async fn the_model_explains_what_chance_has_happen() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("TRACE_SEED").unwrap_or_else(|| now().0.unsigned_abs());
    let runs = stream::iter(first..first + number("TRACE_RUNS").unwrap_or(CHANCES)).map(async |seed| {
        let world = World::new(2, 1).await.without_dead_letters();
        by_chance(&world, seed).await;
        let (name, trace) = (format!("chance-{seed}"), world.trace().await);
        passes(&name, &world.history(&name).await);
        let is_right = is_right(&judged(&name, &trace));
        if !is_right {
            std::fs::write(trace_path(&name), trace.to_lines()).unwrap();
        }
        let is_order = |what: &What| matches!(what, What::Does { effect: Effect::Place { .. }, .. });
        ((!is_right).then_some(name), trace.records.iter().any(|record| is_order(&record.what)))
    });
    let (bad, has_orders): (Vec<_>, Vec<_>) = runs.buffer_unordered(AT_ONCE).unzip().await;
    let bad: Vec<String> = bad.into_iter().flatten().collect();
    assert!(bad.is_empty(), "the model cannot explain {bad:?}, whose traces are in target/traces");
    assert!(has_orders.contains(&true), "no run places an order");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_explains_no_mutant() {
    let has_run = |name: &str| MUTATED.iter().any(|mutated| mutated.scenario.name == name);
    assert!(SEEN.iter().all(|(name, _)| has_run(name)), "a mistake that no run has");
    let runs = stream::iter(MUTATED.iter().filter(|mutated| wanted(mutated.scenario.name))).map(async |mutated| {
        let name = mutated.scenario.name;
        let new = || World::new(mutated.scenario.units, mutated.scenario.limit);
        let right = Run::recorded(&mutated.scenario, &new().await, &format!("{name}-removed")).await;
        let wrong = Run::recorded(&mutated.scenario, &new().await.with((mutated.mutants)()), name).await;
        not_told_apart(name, &right, &wrong, mutated.rejected_at)
    });
    let bad: Vec<String> = runs.buffer_unordered(AT_ONCE).filter_map(async |bad| bad).collect().await;
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Why the model does not tell a run with a mistake, which it must reject at this record, from one without; or why the
/// history checker does not, if clients can see the mistake.
fn not_told_apart(name: &str, right: &Run, wrong: &Run, rejected_at: &str) -> Option<String> {
    let is_explained = is_right(&judged(&format!("{name}, removed"), &right.trace));
    let Err(unexplained) = judged(name, &wrong.trace) else { return Some(format!("{name} is explained")) };
    let at = unexplained.record.map(|(_, record)| format!("{:?}", record.what)).unwrap_or_default();
    if !is_explained {
        return Some(format!("{name} is not explained without the mutation either"));
    }
    if !at.contains(rejected_at) || unexplained.gave_up {
        return Some(format!("{name} is rejected at {at}, and not at {rejected_at}"));
    }
    let (Some((rule, wrong)), Some((_, right))) = (&wrong.seen, &right.seen) else { return None };
    let is_told = wrong.violates(*rule) && right.objections().is_empty();
    (!is_told).then(|| format!("{name}: clients see {wrong}, and without the mistake {right}"))
}
