use std::collections::HashMap;

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;

use super::sync::{Mutex, PoisonError};

/// The largest number of users, and of addresses, counted for each route. It takes a thousand new ones every second to
/// get there.
pub(crate) const MAX_KEYS: usize = 16_384;

/// State for at most [`MAX_KEYS`] keys, which are hashes of users or addresses. Requests of further keys pass uncounted: a
/// limit per sender cannot stop a flood from so many, but the sale's own limit does.
#[derive(Default)]
pub(crate) struct Bounded(Mutex<HashMap<u64, Nanos>>);

impl StateStore for Bounded {
    type Key = u64;

    fn measure_and_replace<T, F, E>(&self, key: &u64, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, state) = f(states.get(key).copied())?;
        if states.len() < MAX_KEYS || states.contains_key(key) {
            states.insert(*key, state);
        }
        Ok(outcome)
    }
}

impl ShrinkableKeyedStateStore<u64> for Bounded {
    fn retain_recent(&self, drop_below: Nanos) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, state| *state > drop_below);
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
