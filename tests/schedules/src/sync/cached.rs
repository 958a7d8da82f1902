use std::hash::Hash;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync as real;

use super::step;

/// `moka::sync::Cache`, with a step before each call. Each call is one step, because moka's calls on a single key are atomic.
#[derive(Clone)]
pub struct Cache<K, V>(real::Cache<K, V>);

pub struct Builder<K, V>(real::CacheBuilder<K, V, real::Cache<K, V>>);

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub fn builder() -> Builder<K, V> {
        Builder(real::Cache::builder())
    }

    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        Q: ?Sized + Hash + Eq,
        K: std::borrow::Borrow<Q>,
    {
        step();
        self.0.get(key)
    }

    pub fn get_with_by_ref<Q>(&self, key: &Q, init: impl FnOnce() -> V) -> V
    where
        Q: ?Sized + Hash + Eq + ToOwned<Owned = K>,
        K: std::borrow::Borrow<Q>,
    {
        step();
        self.0.get_with_by_ref(key, init)
    }

    pub fn insert(&self, key: K, value: V) {
        step();
        self.0.insert(key, value);
    }

    pub fn invalidate<Q>(&self, key: &Q)
    where
        Q: ?Sized + Hash + Eq,
        K: std::borrow::Borrow<Q>,
    {
        step();
        self.0.invalidate(key);
    }

    pub fn entry_by_ref<'a, Q>(&'a self, key: &'a Q) -> real::RefKeyEntrySelector<'a, K, Q, V, std::hash::RandomState>
    where
        Q: ?Sized + Hash + Eq + ToOwned<Owned = K>,
        K: std::borrow::Borrow<Q>,
    {
        step();
        self.0.entry_by_ref(key)
    }
}

impl<K, V> Builder<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    #[must_use]
    pub fn max_capacity(self, entries: u64) -> Self {
        Self(self.0.max_capacity(entries))
    }

    /// How long an entry is kept, by the machine's clock, which a scenario does not change.
    #[must_use]
    pub fn time_to_live(self, time: Duration) -> Self {
        Self(self.0.time_to_live(time))
    }

    /// How long an unused entry is kept.
    #[must_use]
    pub fn time_to_idle(self, time: Duration) -> Self {
        Self(self.0.time_to_idle(time))
    }

    #[must_use]
    pub fn eviction_policy(self, policy: EvictionPolicy) -> Self {
        Self(self.0.eviction_policy(policy))
    }

    pub fn build(self) -> Cache<K, V> {
        Cache(self.0.build())
    }
}
