use std::hash::Hash;
use std::time::Duration;

use super::sync::{Cache, Clock, Moment};

/// Cached values, each of which its next user reads again when it is old. Several may read one at once.
#[derive(Clone)]
pub struct KeptEach<K, V> {
    values: Cache<K, Kept<V>>,
    age: Duration,
    clock: Clock,
}

#[derive(Clone)]
struct Kept<V> {
    /// When its read began; later writes may be missing.
    began: Moment,
    value: V,
}

impl<K, V> KeptEach<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// At most `most` values, each used until `age` after its read began.
    pub fn new(most: u64, age: Duration, clock: Clock) -> Self {
        // The cache's own clock may stand still while Lambda freezes the process, so it only makes room.
        Self { values: Cache::builder().max_capacity(most).time_to_live(age).build(), age, clock }
    }

    /// The value of a key, unless it must be read.
    pub fn get(&self, key: &K) -> Option<V> {
        let now = self.now();
        self.values.get(key).filter(|kept| self.is_usable(kept, now)).map(|kept| kept.value)
    }

    fn is_usable(&self, kept: &Kept<V>, now: Moment) -> bool {
        now.since(kept.began) < self.age
    }

    pub async fn get_or_read<E>(&self, key: &K, read: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let began = self.now();
        let value = read.await?;
        self.keep(key, began, value.clone());
        Ok(value)
    }

    /// Now, for [`Self::keep`] after a read.
    pub fn now(&self) -> Moment {
        Moment::now(self.clock)
    }

    /// Keeps what was read, unless a read that began later has ended before.
    pub fn keep(&self, key: &K, began: Moment, value: V) {
        let now = self.now();
        self.values.entry_by_ref(key).and_upsert_with(|kept| {
            let kept = kept.map(moka::Entry::into_value);
            // By a wall clock that was ahead, an old value began later than any new one.
            let usable = kept.filter(|kept| self.is_usable(kept, now));
            let later = usable.filter(|kept| !kept.began.since(began).is_zero());
            later.unwrap_or(Kept { began, value })
        });
    }
}
