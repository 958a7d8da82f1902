use std::hash::{DefaultHasher, Hash, Hasher};

use sale::EpochMs;

/// Up to which win a round was read: the same as long as nobody else wins a unit, in any of its lanes. Not a moment: of several
/// lanes it is a hash of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WinsSeen(u64);

impl WinsSeen {
    /// Of a lane whose last unit was handed out at this moment, by Redis's clock.
    pub const fn at(last_won_at_ms: EpochMs) -> Self {
        Self(last_won_at_ms.0.cast_unsigned())
    }

    /// Of a round with these lanes, in their order. Another one if that of one of them is.
    pub(crate) fn of_all(lanes: &[Self]) -> Self {
        if let [only] = lanes {
            return *only;
        }
        let mut hasher = DefaultHasher::new();
        lanes.hash(&mut hasher);
        Self(hasher.finish())
    }
}
