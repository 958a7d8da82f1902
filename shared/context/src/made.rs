use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::sync::{Mutex, PoisonError};

/// A type, and the setting that distinguishes several dependencies of that type.
pub(crate) type Key = (TypeId, &'static str);

pub(crate) type Dependency = Arc<dyn Any + Send + Sync>;

#[derive(Debug, Default)]
pub(crate) struct Made(Mutex<BTreeMap<Key, Dependency>>);

impl Made {
    /// Returns the dependency made before, or makes it with `make`. No lock is held meanwhile, so `make` may ask for
    /// other dependencies. If two callers make one at the same time, both get the one that is kept.
    pub(crate) fn get_or_make<E>(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Dependency, E>,
    ) -> Result<Dependency, E> {
        let made = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let new = make()?;
        Ok(Arc::clone(made().entry(key).or_insert(new)))
    }
}
