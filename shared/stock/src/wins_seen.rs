use std::hash::{DefaultHasher, Hash, Hasher};

use sale::EpochMs;

/// Identifies the last win up to which a round was read: the same as long as nobody wins a unit, in any of its lanes.
/// It is not a time; with several lanes it is a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WinsSeen(u64);

impl WinsSeen {
    /// For a lane whose last unit was handed out at this time, by Redis's clock.
    pub const fn at(last_won_at_ms: EpochMs) -> Self {
        Self(last_won_at_ms.0.cast_unsigned())
    }

    /// For a round with these lanes, in order. It changes whenever one of them does.
    pub(crate) fn of_all(lanes: &[Self]) -> Self {
        if let [only] = lanes {
            return *only;
        }
        let mut hasher = DefaultHasher::new();
        lanes.hash(&mut hasher);
        Self(hasher.finish())
    }
}
