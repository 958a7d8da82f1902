use serde::{Deserialize, Serialize};

use crate::{DoorTerms, EpochMs, LogEntry, Round, RoundNumber};

/// Requests a second that each lane of a sale without a plan is expected to get: a tenth of the scripts that one
/// shard's Redis can run (docs/planning.md).
pub const UNPLANNED_REQUESTS_PER_S: u32 = 3_000;
/// A sale is busy if it gets this many times the planned requests between two measurements.
const BUSY_TIMES: u64 = 2;
/// Measurements closer together than this, in milliseconds, are ignored: processes report their answers once a second.
const LEAST_MS: u64 = 30_000;

impl DoorTerms {
    /// Requests a second that a sale with this many lanes is prepared for, planned or not.
    pub fn expected_requests_per_s(&self, lanes: u16) -> u32 {
        self.planned_requests_per_s.unwrap_or(UNPLANNED_REQUESTS_PER_S * u32::from(lanes))
    }

    /// One request's share of the load that is expected in a minute: the shares of a minute as expected add up to 1.
    pub fn share_of_a_minute(&self, lanes: u16) -> f64 {
        1.0 / (f64::from(self.expected_requests_per_s(lanes)) * 60.0)
    }
}

/// How many requests a round gets, measured from time to time.
///
/// A round is busy when it gets at least twice the expected requests, until it gets no more than expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub asked: u64,
    pub at_ms: EpochMs,
    pub requests_per_s: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_since_ms: Option<EpochMs>,
}

impl Traffic {
    pub const fn first(asked: u64, now: EpochMs) -> Self {
        Self { asked, at_ms: now, requests_per_s: 0, busy_since_ms: None }
    }

    /// Adds a measurement of a round with this door and this many lanes. A count that fell has started again, because
    /// Redis lost it. With several lanes Redis may have lost only one of them, while the others' counts are old; then
    /// only the count is recorded. A measurement less than half a minute after the last one is ignored.
    #[must_use]
    pub fn after(self, asked: u64, now: EpochMs, door: &DoorTerms, lanes: u16) -> Self {
        let Ok(ms @ LEAST_MS..) = u64::try_from(now.0 - self.at_ms.0) else { return self };
        let more = match asked.checked_sub(self.asked) {
            Some(more) => more,
            None if lanes > 1 => return Self { asked, at_ms: now, ..self },
            None => asked,
        };
        let requests_per_s = u32::try_from(more.saturating_mul(1000) / ms).unwrap_or(u32::MAX);
        let expected = u64::from(door.expected_requests_per_s(lanes));
        let bound = if self.busy_since_ms.is_some() { expected } else { BUSY_TIMES * expected - 1 };
        let is_busy = u64::from(requests_per_s) > bound;
        let busy_since_ms = is_busy.then(|| self.busy_since_ms.unwrap_or(now));
        Self { asked, at_ms: now, requests_per_s, busy_since_ms }
    }
}

/// The log entry that limits a busy round. Its key is no client's, and the same for every run that finds it busy.
pub fn throttle_of_busy(round: RoundNumber, requests_per_s: u32, now: EpochMs) -> LogEntry {
    let (key, action, parameters) = (key_of_busy(round), THROTTLE.to_owned(), requests_per_s.to_string());
    LogEntry { key, action, parameters, by: None, at_ms: now }
}

const THROTTLE: &str = "throttle";

fn key_of_busy(round: RoundNumber) -> String {
    format!("busy {}", round.0)
}

impl Round {
    pub(crate) fn is_throttled_for_traffic(&self) -> bool {
        let last = self.log.entries().iter().rfind(|entry| entry.action == THROTTLE);
        last.is_some_and(|entry| entry.key == key_of_busy(self.id.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measurements a minute apart of a count that grows by these numbers.
    fn looks(door: &DoorTerms, minutes: &[u64]) -> Vec<(u32, bool)> {
        let (mut asked, mut traffic) = (0, Traffic::first(0, EpochMs(0)));
        let look = |(minute, more): (u32, &u64)| {
            asked += more;
            traffic = traffic.after(asked, EpochMs(0).plus_s(minute * 60), door, 1);
            (traffic.requests_per_s, traffic.busy_since_ms.is_some())
        };
        (1..).zip(minutes).map(look).collect()
    }

    #[test]
    fn twice_as_many_as_expected_are_busy_until_no_more_come_than_expected() {
        let planned = DoorTerms { planned_requests_per_s: Some(10), ..DoorTerms::default() };
        let seen = looks(&planned, &[600, 1199, 1200, 660, 600, 1140, 1200]);
        assert_eq!(seen, [(10, false), (19, false), (20, true), (11, true), (10, false), (19, false), (20, true)]);
        let a_minute = u64::from(UNPLANNED_REQUESTS_PER_S) * 60;
        let unplanned = looks(&DoorTerms::default(), &[a_minute, 2 * a_minute, 0]);
        assert_eq!(unplanned.iter().map(|(_, is_busy)| *is_busy).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn it_is_busy_since_the_first_look_that_found_it_so() {
        let door = DoorTerms { planned_requests_per_s: Some(1), ..DoorTerms::default() };
        let first = Traffic::first(5, EpochMs(0));
        let busy = first.after(305, EpochMs(30_000), &door, 1);
        assert_eq!((busy.requests_per_s, busy.busy_since_ms), (10, Some(EpochMs(30_000))));
        assert_eq!(busy.after(605, EpochMs(60_000), &door, 1).busy_since_ms, Some(EpochMs(30_000)));
    }

    #[test]
    fn a_count_that_began_again_and_a_look_too_soon_do_no_harm() {
        let door = DoorTerms::default();
        let traffic = Traffic::first(1_000_000, EpochMs(60_000));
        assert_eq!(traffic.after(600, EpochMs(120_000), &door, 1).requests_per_s, 10, "Redis lost the rest");
        for soon in [0, 59_000, 60_000, 60_001, 89_999] {
            // A run beside another, or by another clock.
            assert_eq!(traffic.after(2_000_000, EpochMs(soon), &door, 1), traffic, "{soon}");
        }
        let busiest = traffic.after(u64::MAX, EpochMs(90_000), &door, 1);
        assert_eq!((busiest.requests_per_s, busiest.busy_since_ms), (u32::MAX, Some(EpochMs(90_000))));
    }

    /// Redis loses the counts of one of four lanes between two measurements.
    #[test]
    fn the_rate_is_never_above_what_was_asked_whatever_lanes_are_lost() {
        let door = DoorTerms { planned_requests_per_s: Some(1), ..DoorTerms::default() };
        let (before, more) = ([5_000_000, 3_000, 70, 0], [60, 120, 0, 600]);
        for lost in 0..16 {
            let kept = |lane: usize| if lost & 1 << lane == 0 { before[lane] + more[lane] } else { more[lane] };
            let traffic = Traffic::first(before.iter().sum(), EpochMs(0));
            let after = traffic.after((0..4).map(kept).sum(), EpochMs(60_000), &door, 4);
            assert!(after.requests_per_s <= 13, "{lost:b}: {after:?}");
            let later = after.after((0..4).map(kept).sum::<u64>() + 1200, EpochMs(120_000), &door, 4);
            assert_eq!((later.requests_per_s, later.busy_since_ms.is_some()), (20, true), "{lost:b}");
        }
    }

    #[test]
    fn a_minute_as_expected_adds_up_to_one() {
        for (planned, lanes, expected) in
            [(None, 1, 3_000), (Some(500), 1, 500), (None, 16, 48_000), (Some(500), 16, 500)]
        {
            let door = DoorTerms { planned_requests_per_s: planned, ..DoorTerms::default() };
            let minute = f64::from(expected) * 60.0;
            assert!((door.share_of_a_minute(lanes) * minute - 1.0).abs() < 1e-9);
        }
    }
}
