//! A round as one object, for stateright: each request takes effect at once.

use std::collections::{BTreeMap, BTreeSet};

use stateright::semantics::SequentialSpec;

/// A user's request for a unit, by the user and the key.
pub(crate) type Key = (u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Reserve(Key),
    Look(Key),
    Cancel(Key),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ret {
    Accepted(u8),
    SoldOut,
    LimitReached,
    Queued(u8),
    Cancelled,
    Unknown,
    /// The answer was lost.
    Unheard,
}

/// The unit of each reservation, and whether it is still held.
type State = BTreeMap<Key, (u8, bool)>;

/// All states that the round may be in, since the spec leaves open which unit a user gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoundSpec {
    units: u8,
    limit: usize,
    states: BTreeSet<State>,
}

impl RoundSpec {
    pub(crate) fn new(units: u8, limit: usize) -> Self {
        Self { units, limit, states: BTreeSet::from([State::new()]) }
    }

    /// The possible answers to a request, each with the state after it.
    pub(crate) fn outcomes(&self, state: &State, op: Op) -> Vec<(Ret, State)> {
        let unchanged = |ret| vec![(ret, state.clone())];
        match op {
            Op::Look(key) => unchanged(match state.get(&key) {
                None => Ret::Unknown,
                Some((unit, true)) => Ret::Queued(*unit),
                Some((_, false)) => Ret::Cancelled,
            }),
            Op::Cancel(key) => match state.get(&key) {
                None => unchanged(Ret::Unknown),
                Some((unit, _)) => {
                    let mut after = state.clone();
                    after.insert(key, (*unit, false));
                    vec![(Ret::Cancelled, after)]
                }
            },
            Op::Reserve(key) => {
                if let Some((unit, _)) = state.get(&key) {
                    return unchanged(Ret::Accepted(*unit));
                }
                let live: Vec<(Key, u8)> =
                    state.iter().filter(|(_, (_, live))| *live).map(|(key, (unit, _))| (*key, *unit)).collect();
                if live.iter().filter(|(of, _)| of.0 == key.0).count() >= self.limit {
                    return unchanged(Ret::LimitReached);
                }
                let free = (1..=self.units).filter(|unit| live.iter().all(|(_, taken)| taken != unit));
                let taken: Vec<(Ret, State)> = free
                    .map(|unit| {
                        let mut after = state.clone();
                        after.insert(key, (unit, true));
                        (Ret::Accepted(unit), after)
                    })
                    .collect();
                if taken.is_empty() { unchanged(Ret::SoldOut) } else { taken }
            }
        }
    }

    fn all_outcomes(&self, op: Op) -> impl Iterator<Item = (Ret, State)> {
        self.states.iter().flat_map(move |state| self.outcomes(state, op))
    }
}

impl SequentialSpec for RoundSpec {
    type Op = Op;
    type Ret = Ret;

    /// Stateright calls this only for requests whose answer was lost.
    fn invoke(&mut self, op: &Op) -> Ret {
        self.states = self.all_outcomes(*op).map(|(_, state)| state).collect();
        Ret::Unheard
    }

    fn is_valid_step(&mut self, op: &Op, ret: &Ret) -> bool {
        self.states = self.all_outcomes(*op).filter(|(said, _)| said == ret).map(|(_, state)| state).collect();
        !self.states.is_empty()
    }
}
