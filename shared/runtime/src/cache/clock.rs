use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sale::EpochMs;

/// The limits of a patient clock are at least this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A function's wall clock, and how long it waits for others. Tests set it wrong on purpose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    ahead_ms: i64,
    moved_ms: Option<&'static AtomicI64>,
    is_patient: bool,
}

impl Clock {
    pub const fn system() -> Self {
        Self { ahead_ms: 0, moved_ms: None, is_patient: false }
    }

    /// A clock that is ahead of the machine's by `ahead_ms`, or behind it if negative.
    pub const fn ahead_by_ms(ahead_ms: i64) -> Self {
        Self { ahead_ms, ..Self::system() }
    }

    /// A clock that is ahead of the machine's by the value of `moved_ms` at each reading.
    pub const fn moved_by_ms(moved_ms: &'static AtomicI64) -> Self {
        Self { moved_ms: Some(moved_ms), ..Self::system() }
    }

    /// The same clock, with limits of a minute or more: for tests that are not about limits, on busy machines.
    #[must_use]
    pub const fn patient(self) -> Self {
        Self { is_patient: true, ..self }
    }

    /// How long to wait for what should take at most `limit`.
    pub fn limit(self, limit: Duration) -> Duration {
        if self.is_patient { limit.max(PATIENCE) } else { limit }
    }

    pub fn now(self) -> EpochMs {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ahead_ms = self.ahead_ms + self.moved_ms.map_or(0, |moved_ms| moved_ms.load(Ordering::Relaxed));
        EpochMs(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX).saturating_add(ahead_ms))
    }
}
