use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use stateright::Model;

use super::effect::Effect;
use super::moves::{Finder, Move, RunFacts, Runs};
use super::record::{Function, How, Record, Trace, What};
use crate::state::State;
use crate::{Action, Protocol};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// The records that are explained.
    done: BTreeSet<usize>,
    state: State,
    runs: Runs,
}

struct Way {
    from: usize,
    record: Option<usize>,
    actions: Vec<Action>,
}

/// The model's steps, each with the number of the record that it explains, if it explains one.
pub(super) type Steps = Vec<(Option<usize>, Vec<Action>)>;

/// The model has no path that looks like the trace.
#[derive(Clone, Debug)]
pub struct Unexplained {
    pub explained: usize,                // How many records the longest path explains.
    pub record: Option<(usize, Record)>, // The first record that this path cannot explain, with its number.
    pub reasons: Vec<String>,
    pub state: State, // The model's state at that point.
    pub visited: usize,
    pub gave_up: bool, // Whether it reached the limit, so that there might be a path after all.
}

pub(super) struct Search<'a> {
    protocol: &'a Protocol,
    trace: &'a Trace,
    known: BTreeMap<usize, RunFacts>,
}

impl<'a> Search<'a> {
    pub(super) fn new(protocol: &'a Protocol, trace: &'a Trace) -> Self {
        let mut known = BTreeMap::new();
        for (at, record) in trace.records.iter().enumerate() {
            let begins =
                trace.records.iter().find(|other| other.run == record.run && matches!(other.what, What::Begins { .. }));
            let Some(What::Begins { function, id }) = begins.map(|begins| &begins.what) else { continue };
            let fails = trace.records.iter().any(|other| {
                other.run == record.run && matches!(other.what, What::Ends { how: How::Failed | How::Died })
            });
            let later = trace.records[at + 1..].iter().filter(|other| other.what == record.what).count();
            known.insert(at, RunFacts { function: *function, id: *id, fails, later });
        }
        Self { protocol, trace, known }
    }

    /// Tries the record that ended first, then others if that fails. Returns the path, and how many states it saw.
    pub(super) fn run(&self, most: usize) -> Result<(Steps, usize), Box<Unexplained>> {
        let records = &self.trace.records;
        let init = self.protocol.init_states().remove(0);
        let mut farthest = (0, init.clone());
        let mut stuck: Option<(usize, Vec<String>)> = None;
        let mut ways = vec![Way { from: 0, record: None, actions: Vec::new() }];
        let mut seen = HashSet::new();
        let mut open = vec![(0, Node { done: BTreeSet::new(), state: init, runs: Runs::new() })];
        while let Some((way, node)) = open.pop() {
            if node.done.len() == records.len() {
                return Ok((path(&ways, way), seen.len()));
            }
            if seen.len() >= most || !seen.insert(node.clone()) {
                continue;
            }
            let mut push = |record, actions, node| {
                ways.push(Way { from: way, record, actions });
                open.push((ways.len() - 1, node));
            };
            for Move { actions, state, runs } in self.protocol.unseen(&node.state, &node.runs, &self.wanted(&node)) {
                push(None, actions, Node { done: node.done.clone(), state, runs });
            }
            let next = next(&node.done, records);
            let mut failed = None;
            for at in next.into_iter().rev() {
                let mut finder = Finder::new(self.protocol, &node.state, &node.runs);
                finder.look(&records[at], self.known.get(&at).copied());
                let Finder { moves, mut reasons, .. } = finder;
                if moves.is_empty() {
                    reasons.dedup();
                    failed = Some((at, reasons));
                }
                for Move { actions, state, runs } in moves.into_iter().rev() {
                    let done = node.done.iter().copied().chain([at]).collect();
                    push(Some(at), actions, Node { done, state, runs });
                }
            }
            // Of equally long paths the first tried the earliest record first. Others add reasons about its record.
            if stuck.is_none() || node.done.len() > farthest.0 {
                farthest = (node.done.len(), node.state);
                stuck = failed;
            } else if node.done.len() == farthest.0
                && let (Some((at, reasons)), Some((other, more))) = (&mut stuck, failed)
                && *at == other
            {
                reasons.extend(more);
                reasons.sort_unstable();
                reasons.dedup();
            }
        }
        let ((explained, state), visited) = (farthest, seen.len());
        let (at, reasons) = stuck.map_or((None, Vec::new()), |(at, reasons)| (Some(at), reasons));
        let record = at.map(|at| (at, records[at].clone()));
        Err(Box::new(Unexplained { explained, record, reasons, state, visited, gave_up: visited >= most }))
    }

    /// What the running functions still have to do, if invisible steps may come first.
    fn wanted(&self, node: &Node) -> Vec<(u32, RunFacts, &Effect)> {
        let is_open = |at: &usize| !node.done.contains(at);
        let wanted = |at: usize| {
            let known = self.known.get(&at)?;
            let record = &self.trace.records[at];
            let has_unseen = matches!(known.function, Function::Reconciliation | Function::Cancel);
            match &record.what {
                What::Does { effect, .. } if has_unseen && node.runs.contains_key(&record.run) => {
                    Some((record.run, *known, effect))
                }
                _ => None,
            }
        };
        (0..self.trace.records.len()).filter(is_open).filter_map(wanted).collect()
    }
}

/// Records that may come next: no other unexplained record ended before they began. Sorted by their ends.
fn next(done: &BTreeSet<usize>, records: &[Record]) -> Vec<usize> {
    let open = || (0..records.len()).filter(|at| !done.contains(at));
    let Some(first_over) = open().map(|at| records[at].to).min() else { return Vec::new() };
    let mut next: Vec<usize> = open().filter(|at| records[*at].from <= first_over).collect();
    next.sort_by_key(|at| records[*at].to);
    next
}

fn path(ways: &[Way], mut at: usize) -> Steps {
    let mut path = Vec::new();
    while at != 0 {
        path.push((ways[at].record, ways[at].actions.clone()));
        at = ways[at].from;
    }
    path.reverse();
    path
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_over_before_comes_before() {
        let record = |(from, to)| Record { from, to, run: 0, what: What::Saves {} };
        let records = [(1, 5), (2, 3), (4, 6), (7, 7)].map(record);
        for (done, then) in [(&[][..], &[1, 0][..]), (&[1], &[0, 2]), (&[0], &[1]), (&[1, 2], &[0]), (&[0, 1, 2], &[3])]
        {
            assert_eq!(next(&done.iter().copied().collect(), &records), then, "after {done:?}");
        }
    }
}
