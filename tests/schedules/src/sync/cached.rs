use std::hash::Hash;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync as real;

use super::Cache;

pub struct Builder<K, V>(real::CacheBuilder<K, V, real::Cache<K, V>>);

macro_rules! options {
    ($($option:ident($type:ty)),*) => {
        impl<K, V> Builder<K, V>
        where
            K: Hash + Eq + Send + Sync + 'static,
            V: Clone + Send + Sync + 'static,
        {
            $(
                #[must_use]
                pub fn $option(self, value: $type) -> Self {
                    Self(self.0.$option(value))
                }
            )*

            pub fn build(self) -> Cache<K, V> {
                super::Stepped(self.0.build())
            }
        }
    };
}

// Entries live by the machine's clock, which a scenario does not change.
options!(max_capacity(u64), time_to_live(Duration), time_to_idle(Duration), eviction_policy(EvictionPolicy));

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub fn builder() -> Builder<K, V> {
        Builder(real::Cache::builder())
    }
}
