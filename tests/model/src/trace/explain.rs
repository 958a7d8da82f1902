use std::fmt;

use anyhow::Result;
use stateright::{Expectation, Model};

use super::record::{Record, Trace, What};
use super::search::{Found, Search};
use crate::state::State;
use crate::{Action, Protocol};

/// Most states that a search visits. A trace of a small run needs a few hundred.
const MOST_SEEN: usize = 200_000;

/// A path of the model that looks like the trace.
#[derive(Clone, Debug)]
pub struct Explained {
    pub effects: usize,
    /// Its steps, each with the number of the record that it explains, if it is visible.
    pub path: Vec<(Option<usize>, Vec<Action>)>,
    pub visited: usize,
    /// Properties of the model that do not hold in some state of the path.
    pub broken: Vec<&'static str>,
}

/// The model has no path that looks like the trace.
#[derive(Clone, Debug)]
pub struct Unexplained {
    /// How many records the longest path explains.
    pub explained: usize,
    /// The first record that this path cannot explain, with its number.
    pub record: Option<(usize, Record)>,
    pub reasons: Vec<String>,
    /// The model's state at that point.
    pub state: Box<State>,
    pub visited: usize,
    /// Whether it reached the limit, so that there might be a path after all.
    pub gave_up: bool,
}

/// Looks for a path of the model that looks like the trace from outside. Fails if the trace does not fit into it.
pub fn explain(trace: &Trace) -> Result<Result<Explained, Unexplained>> {
    let protocol = Protocol::right(trace.scope()?);
    let Found { path, seen, farthest, stuck } = Search::new(&protocol, trace).run(MOST_SEEN);
    let Some(path) = path else {
        let (explained, state) = farthest;
        let (at, reasons) = stuck.map_or((None, Vec::new()), |(at, reasons)| (Some(at), reasons));
        let record = at.map(|at| (at, trace.records[at].clone()));
        let (state, gave_up) = (Box::new(state), seen >= MOST_SEEN);
        return Ok(Err(Unexplained { explained, record, reasons, state, visited: seen, gave_up }));
    };
    let is_effect = |record: &&Record| matches!(record.what, What::Does { .. });
    let effects = trace.records.iter().filter(is_effect).count();
    let broken = broken(&protocol, &path);
    Ok(Ok(Explained { effects, path, visited: seen, broken }))
}

/// Properties that are violated somewhere on a path.
fn broken(protocol: &Protocol, path: &[(Option<usize>, Vec<Action>)]) -> Vec<&'static str> {
    let mut states = protocol.init_states();
    for action in path.iter().flat_map(|(_, actions)| actions) {
        let last = states.last().cloned();
        states.extend(last.and_then(|last| protocol.next_state(&last, *action)));
    }
    let must_hold = protocol.properties().into_iter().filter(|property| property.expectation == Expectation::Always);
    let is_broken = must_hold.filter(|property| !states.iter().all(|state| (property.condition)(protocol, state)));
    is_broken.map(|property| property.name).collect()
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.path.iter().map(|(_, actions)| actions.len()).sum::<usize>();
        write!(f, "{} effects are {steps} steps of the model; {} states visited", self.effects, self.visited)
    }
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { explained, record, reasons, state, visited, gave_up } = self;
        writeln!(f, "{explained} records are explained; {visited} states visited")?;
        if *gave_up {
            writeln!(f, "the search gave up: there may be a path")?;
        }
        if let Some((at, record)) = record {
            writeln!(f, "not explained: line {}, run {}: {:?}", at + 2, record.run, record.what)?;
        }
        for reason in reasons {
            writeln!(f, "  {reason}")?;
        }
        writeln!(f, "the model's state there:\n  {:?}\n  {:?}\n  {:?}", state.redis, state.ledger, state.jobs)
    }
}
