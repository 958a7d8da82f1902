//! How users' arrivals are distributed over time.

use std::time::Duration;

use serde::Serialize;

/// The steepness of a rush: the rate at the opening is about this many times the mean.
const STEEPNESS: f64 = 7.0;

/// The shape of the arrival rate over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// A constant rate
    Even,
    /// Most at the opening, then fewer and fewer: half of all in the first tenth of the time
    Rush,
    /// None at first, then more and more, up to twice the mean
    Ramp,
}

impl Curve {
    /// When user `n` of `users` comes, counted from the beginning of `over`.
    ///
    /// After the fraction t of the time, this fraction of users has come: even t, rush (1 − e⁻⁷ᵗ) / (1 − e⁻⁷), ramp t².
    pub fn due(self, n: usize, users: usize, over: Duration) -> Duration {
        let part = n as f64 / users.max(1) as f64;
        let at = match self {
            Self::Even => part,
            Self::Rush => -(part * (-STEEPNESS).exp_m1()).ln_1p() / STEEPNESS,
            Self::Ramp => part.sqrt(),
        };
        over.mul_f64(at.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// How many of a thousand come within this fraction of a minute.
    fn come_by(curve: Curve, part: f64) -> usize {
        (0..1000).filter(|n| curve.due(*n, 1000, MINUTE) < MINUTE.mul_f64(part)).count()
    }

    #[test]
    fn everybody_comes_in_time_and_in_order() {
        for curve in [Curve::Even, Curve::Rush, Curve::Ramp] {
            let due: Vec<_> = (0..1000).map(|n| curve.due(n, 1000, MINUTE)).collect();
            assert!(due.is_sorted(), "{curve:?}");
            assert!(due[0] == Duration::ZERO && due[999] < MINUTE, "{curve:?}");
        }
    }

    #[test]
    fn curves_have_their_shapes() {
        assert_eq!([0.1, 0.5, 0.9].map(|part| come_by(Curve::Even, part)), [100, 500, 900]);
        assert_eq!([0.1, 0.5, 1.0].map(|part| come_by(Curve::Ramp, part)), [10, 250, 1000]);
        // Seven times the mean at first, half of all in the first tenth, almost nothing at the end.
        let [first, tenth, almost_all] = [0.01, 0.1, 0.9].map(|part| come_by(Curve::Rush, part));
        assert!((65..=70).contains(&first) && (500..510).contains(&tenth) && almost_all > 990, "{first} {tenth}");
    }

    #[test]
    fn all_at_once_is_a_curve_too() {
        assert_eq!(Curve::Rush.due(7, 10, Duration::ZERO), Duration::ZERO);
        assert_eq!(Curve::Even.due(0, 0, MINUTE), Duration::ZERO);
    }
}
