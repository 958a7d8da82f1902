use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash};

use stateright::Model;

/// Whether a protocol's runs end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run<A> {
    Ends(usize),     // Every run ends, after at most this many steps.
    Circles(Vec<A>), // A run can loop for ever; these are the steps of the loop.
}

struct Visit<M: Model> {
    state: M::State,
    key: u64,
    /// The step that led here.
    by: Option<M::Action>,
    actions: Vec<M::Action>,
    longest: usize,
}

/// Finds the longest run, or a cycle.
///
/// `stateright` does not look for cycles, and its `eventually` does not see them. If there is none, every run ends, so
/// every run reaches a state at rest and whatever holds there, without any assumption of fairness.
pub fn longest_run<M>(protocol: &M) -> Run<M::Action>
where
    M: Model<State: Hash, Action: Clone>,
{
    // For a finished state: the longest run from there. For one on the current path: none yet.
    let mut known: HashMap<u64, Option<usize>> = HashMap::new();
    let mut path: Vec<Visit<M>> = Vec::new();
    let mut pending: Vec<_> = protocol.init_states().into_iter().map(|state| (state, None)).collect();
    let hasher = known.hasher().clone();
    let mut longest = 0;
    loop {
        if let Some((state, by)) = pending.pop() {
            let key = hasher.hash_one(&state);
            match known.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(None);
                    let mut actions = Vec::new();
                    protocol.actions(&state, &mut actions);
                    path.push(Visit { state, key, by, actions, longest: 0 });
                }
                Entry::Occupied(entry) => match entry.get() {
                    Some(from_there) => {
                        if let Some(visit) = path.last_mut() {
                            visit.longest = visit.longest.max(from_there + 1);
                        }
                    }
                    None => {
                        let circle = path.into_iter().skip_while(|visit| visit.key != key).skip(1);
                        return Run::Circles(circle.map(|visit| visit.by).chain([by]).flatten().collect());
                    }
                },
            }
        }
        let Some(visit) = path.last_mut() else { return Run::Ends(longest) };
        if let Some(action) = visit.actions.pop() {
            let next = protocol.next_state(&visit.state, action.clone());
            pending.extend(next.map(|state| (state, Some(action))));
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
