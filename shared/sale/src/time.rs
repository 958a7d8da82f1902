use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch. Stored as a number, shown as RFC 3339.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EpochMs(pub i64);

impl EpochMs {
    pub const fn plus_s(self, s: u32) -> Self {
        Self(self.0.saturating_add(s as i64 * 1000))
    }

    pub const fn minus_s(self, s: u32) -> Self {
        Self(self.0.saturating_sub(s as i64 * 1000))
    }

    /// Milliseconds since `earlier`, or 0 if that is not earlier.
    pub const fn since_ms(self, earlier: Self) -> u64 {
        let ms = self.0.saturating_sub(earlier.0);
        if ms < 0 { 0 } else { ms as u64 }
    }

    /// Whole seconds since the Unix epoch, the form of DynamoDB's time to live.
    pub const fn as_epoch_s(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

impl From<Timestamp> for EpochMs {
    fn from(timestamp: Timestamp) -> Self {
        Self(timestamp.as_millisecond())
    }
}

impl From<EpochMs> for Timestamp {
    fn from(moment: EpochMs) -> Self {
        let bounded = moment.0.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        Timestamp::from_millisecond(bounded).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for EpochMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", Timestamp::from(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_as_rfc_3339() {
        assert_eq!(EpochMs(1_763_712_345_678).to_string(), "2025-11-21T08:05:45.678Z");
        assert_eq!(EpochMs(0).to_string(), "1970-01-01T00:00:00.000Z");
        let _ = EpochMs(i64::MAX).to_string();
        let _ = EpochMs(i64::MIN).to_string();
    }

    #[test]
    fn arithmetic_does_not_overflow() {
        assert_eq!(EpochMs(5).plus_s(2), EpochMs(2005));
        assert_eq!(EpochMs(i64::MAX).plus_s(1), EpochMs(i64::MAX));
        assert_eq!(EpochMs(2005).minus_s(2), EpochMs(5));
        assert_eq!(EpochMs(i64::MIN).minus_s(1), EpochMs(i64::MIN));
        assert_eq!(EpochMs(7).since_ms(EpochMs(5)), 2);
        assert_eq!(EpochMs(5).since_ms(EpochMs(7)), 0);
        assert_eq!(EpochMs(-1).as_epoch_s(), -1);
    }
}
