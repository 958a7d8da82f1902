use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sale::EpochMs;

/// How long a process goes by what Redis said. A unit that comes back is on sale again after no more than this and its
/// jitter.
const LASTS: Duration = Duration::from_secs(1);
/// The part of it by which it may be shorter or longer: processes that were told at the same moment must not ask again
/// at the same moment.
const JITTER: f64 = 0.25;

/// That a round was sold out a moment ago. While it stands, who cannot have won hears so without a call of Redis.
#[derive(Debug)]
pub struct SoldOutMark {
    begun: Instant,
    /// Milliseconds after `begun`.
    until_ms: AtomicU64,
    last_won_at_ms: AtomicI64,
}

impl Default for SoldOutMark {
    fn default() -> Self {
        Self { begun: Instant::now(), until_ms: AtomicU64::new(0), last_won_at_ms: AtomicI64::new(i64::MIN) }
    }
}

impl SoldOutMark {
    /// Redis said it: nothing is left, and the last unit was handed out at this moment, by Redis's clock.
    pub fn set(&self, last_won_at_ms: EpochMs) {
        let lasts = LASTS.mul_f64(rand::random_range(1.0 - JITTER..=1.0 + JITTER));
        self.set_at(self.begun.elapsed(), lasts, last_won_at_ms);
    }

    /// Whether who comes with such a pass need not ask Redis.
    ///
    /// Whoever won did so with a pass from before that moment, so the retry of a winner is never covered. Nor is a
    /// returning user, who has a reservation to be told of, whatever the pass's age.
    pub fn covers(&self, pass_issued_at_ms: EpochMs, returning: bool) -> bool {
        !returning && self.covers_at(self.begun.elapsed(), pass_issued_at_ms)
    }

    /// The later of two answers holds, whichever arrives first: it covers fewer passes.
    fn set_at(&self, now: Duration, lasts: Duration, last_won_at_ms: EpochMs) {
        self.last_won_at_ms.fetch_max(last_won_at_ms.0, Ordering::AcqRel);
        self.until_ms.fetch_max((now + lasts).as_millis() as u64, Ordering::AcqRel);
    }

    fn covers_at(&self, now: Duration, pass_issued_at_ms: EpochMs) -> bool {
        let marked = (now.as_millis() as u64) < self.until_ms.load(Ordering::Acquire);
        marked && pass_issued_at_ms.0 > self.last_won_at_ms.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WON: EpochMs = EpochMs(1_000_000);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn nothing_is_covered_before_redis_says_so() {
        let mark = SoldOutMark::default();
        assert!(!mark.covers(EpochMs(i64::MAX), false));
    }

    #[test]
    fn it_covers_passes_from_after_the_last_unit() {
        let mark = SoldOutMark::default();
        mark.set(WON);
        assert!(mark.covers(EpochMs(WON.0 + 1), false));
        assert!(!mark.covers(WON, false), "with this one the last unit may have been won");
        assert!(!mark.covers(EpochMs(WON.0 - 1), false));
    }

    #[test]
    fn a_returning_user_is_never_covered() {
        let mark = SoldOutMark::default();
        mark.set(WON);
        assert!(!mark.covers(EpochMs(WON.0 + 1), true));
    }

    #[test]
    fn it_ends_by_itself() {
        let mark = SoldOutMark::default();
        mark.set_at(ms(5000), ms(1000), WON);
        let pass = EpochMs(WON.0 + 1);
        assert!(mark.covers_at(ms(5000), pass) && mark.covers_at(ms(5999), pass));
        assert!(!mark.covers_at(ms(6000), pass));
    }

    #[test]
    fn a_late_answer_changes_nothing() {
        let mark = SoldOutMark::default();
        mark.set_at(ms(5000), ms(1000), WON);
        mark.set_at(ms(4000), ms(1000), EpochMs(WON.0 - 500));
        assert!(!mark.covers_at(ms(5500), WON));
        assert!(mark.covers_at(ms(5500), EpochMs(WON.0 + 1)));
    }

    #[test]
    fn it_never_lasts_longer_than_a_quarter_more() {
        for _ in 0..1000 {
            let mark = SoldOutMark::default();
            mark.set(WON);
            let until = mark.until_ms.load(Ordering::Acquire);
            let now = mark.begun.elapsed().as_millis() as u64;
            assert!(until >= 750 && until <= now + 1250, "{until} at {now}");
        }
    }
}
