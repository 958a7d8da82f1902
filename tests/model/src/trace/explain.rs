use std::fmt;

use anyhow::Result;
use stateright::{Expectation, Model};

use super::record::{Trace, What};
use super::search::{Search, Steps, Unexplained};
use crate::Protocol;

/// Most states that a search visits. A trace of a small run needs a few hundred.
const MOST_SEEN: usize = 200_000;

/// A path of the model that looks like the trace.
#[derive(Clone, Debug)]
pub struct Explained {
    pub effects: usize,
    pub path: Steps,
    pub visited: usize,
    /// Properties of the model that do not hold in some state of the path.
    pub broken: Vec<&'static str>,
}

/// Looks for a path of the model that looks like the trace from outside. Fails if the trace does not fit into it.
pub fn explain(trace: &Trace) -> Result<Result<Explained, Box<Unexplained>>> {
    let protocol = Protocol::right(trace.scope()?);
    Ok(Search::new(&protocol, trace).run(MOST_SEEN).map(|(path, visited)| {
        let effects = trace.records.iter().filter(|record| matches!(record.what, What::Does { .. })).count();
        let broken = broken(&protocol, &path);
        Explained { effects, path, visited, broken }
    }))
}

/// Properties that are violated somewhere on a path.
fn broken(protocol: &Protocol, path: &Steps) -> Vec<&'static str> {
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
