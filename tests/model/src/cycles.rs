use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash};

use stateright::Model;

/// Whether a protocol's runs end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run<A> {
    /// Every run ends, after at most this many steps.
    Ends(usize),
    /// A run can loop for ever; these are the steps of the loop.
    Circles(Vec<A>),
}

struct Visit<M: Model> {
    state: M::State,
    key: u64,
    actions: Vec<M::Action>,
    longest: usize,
}

/// Finds the longest run, or a cycle.
///
/// `stateright` does not look for cycles, and its `eventually` does not see them. If there is none, every run ends, so
/// every run reaches a state at rest and whatever holds there, without any assumption of fairness.
pub fn longest_run<M>(protocol: &M) -> Run<M::Action>
where
    M: Model,
    M::State: Hash + PartialEq,
    M::Action: Clone,
{
    // For a finished state: the longest run from there. For one on the current path: none yet.
    let mut known: HashMap<u64, Option<usize>> = HashMap::new();
    let mut path: Vec<Visit<M>> = Vec::new();
    let mut pending = protocol.init_states();
    let hasher = known.hasher().clone();
    let mut longest = 0;
    loop {
        if let Some(state) = pending.pop() {
            let key = hasher.hash_one(&state);
            match known.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(None);
                    let mut actions = Vec::new();
                    protocol.actions(&state, &mut actions);
                    path.push(Visit { state, key, actions, longest: 0 });
                }
                Entry::Occupied(entry) => match entry.get() {
                    Some(from_there) => {
                        if let Some(visit) = path.last_mut() {
                            visit.longest = visit.longest.max(from_there + 1);
                        }
                    }
                    None => return Run::Circles(circle(protocol, &path, key)),
                },
            }
        }
        let Some(visit) = path.last_mut() else { return Run::Ends(longest) };
        if let Some(action) = visit.actions.pop() {
            pending.extend(protocol.next_state(&visit.state, action));
            continue;
        }
        let (key, steps) = (visit.key, visit.longest);
        known.insert(key, Some(steps));
        path.pop();
        match path.last_mut() {
            Some(before) => before.longest = before.longest.max(steps + 1),
            None => longest = steps,
        }
    }
}

fn circle<M>(protocol: &M, path: &[Visit<M>], key: u64) -> Vec<M::Action>
where
    M: Model,
    M::State: PartialEq,
    M::Action: Clone,
{
    let start = path.iter().position(|visit| visit.key == key).unwrap_or_default();
    let states = path[start..].iter().map(|visit| &visit.state);
    let next = states.clone().skip(1).chain(states.clone().take(1));
    let step = |(from, to): (&M::State, &M::State)| {
        let mut actions = Vec::new();
        protocol.actions(from, &mut actions);
        actions.into_iter().find(|action| protocol.next_state(from, action.clone()).as_ref() == Some(to))
    };
    states.zip(next).filter_map(step).collect()
}
