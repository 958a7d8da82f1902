use std::collections::HashMap;

use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;

use super::sync::{Mutex, PoisonError};

/// The largest number of users, and of addresses, counted for each route. At some 200 bytes each that is a few tens of
/// MB, and it takes a thousand new ones every second to get there.
pub(crate) const MAX_KEYS: usize = 16_384;

/// State for at most [`MAX_KEYS`] keys. Requests of further keys pass uncounted: a limit per sender cannot stop a flood
/// from so many, but the sale's own limit does.
#[derive(Default)]
pub(crate) struct Bounded(Mutex<HashMap<String, Nanos>>);

impl StateStore for Bounded {
    type Key = String;

    fn measure_and_replace<T, F, E>(&self, key: &String, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, state) = f(states.get(key).copied())?;
        if states.len() < MAX_KEYS || states.contains_key(key) {
            states.insert(key.clone(), state);
        }
        Ok(outcome)
    }
}

impl ShrinkableKeyedStateStore<String> for Bounded {
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
