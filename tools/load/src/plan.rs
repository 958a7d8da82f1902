//! How many users come, over what time, and when to stop early.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::curve::Curve;

/// The largest number of users of a run: everything about them is in memory.
pub const MAX_USERS: usize = 1_000_000;
/// The longest time over which they come.
pub const MAX_OVER: Duration = Duration::from_secs(3_600);

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    users: usize,
    over_s: f64,
    pub(crate) curve: Curve,
    pub(crate) stop_at_errors: Option<f64>,
}

impl Plan {
    pub fn new(users: usize, over: Duration, curve: Curve) -> Result<Self> {
        let over_s = over.as_secs_f64();
        ensure!((1..=MAX_USERS).contains(&users), "{users} users; there can be 1 to {MAX_USERS}");
        ensure!(over <= MAX_OVER, "{over_s} s; it can take up to {} s", MAX_OVER.as_secs());
        Ok(Self { users, over_s, curve, stop_at_errors: None })
    }

    pub fn at_rate(requests: usize, per_s: f64) -> Result<Self> {
        let over = Duration::try_from_secs_f64(requests as f64 / per_s).unwrap_or(Duration::MAX);
        Self::new(requests, over, Curve::Even)
    }

    /// Stops when at least this fraction of the answers of the last seconds are errors: 500 and above, or no answer.
    pub fn stop_at_errors(self, part: f64) -> Result<Self> {
        ensure!(part > 0.0 && part <= 1.0, "an error rate of {part}; it has to be above 0 and at most 1");
        Ok(Self { stop_at_errors: Some(part), ..self })
    }

    pub(crate) fn over(&self) -> Duration {
        Duration::from_secs_f64(self.over_s)
    }

    /// When each user comes.
    pub(crate) fn due(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let (curve, users, over) = (self.curve, self.users, self.over());
        (0..users).map(move |n| curve.due(n, users, over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_bounds() {
        let new = |users, over_s| Plan::new(users, Duration::from_secs(over_s), Curve::Even);
        assert!(new(1, 0).is_ok() && new(1_000_000, 3_600).is_ok());
        for (users, over_s, says) in [(0, 1, "0 users; "), (1_000_001, 1, "1000001 users; "), (1, 3_601, "3601 s; ")] {
            assert!(new(users, over_s).unwrap_err().to_string().starts_with(says));
        }
        for part in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(new(1, 1).unwrap().stop_at_errors(part).is_err(), "{part}");
        }
        assert_eq!(new(1, 1).unwrap().stop_at_errors(0.5).unwrap().stop_at_errors, Some(0.5));
    }

    #[test]
    fn a_rate_is_a_time() {
        assert_eq!(Plan::at_rate(20_000, 4_000.0).unwrap().over(), Duration::from_secs(5));
        for per_s in [0.0, -1.0, f64::NAN] {
            assert!(Plan::at_rate(10, per_s).is_err(), "{per_s}");
        }
    }
}
