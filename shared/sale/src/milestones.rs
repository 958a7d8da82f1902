use serde::{Deserialize, Serialize};

use crate::{EpochMs, Round};

/// How long after its end a round counts as over, in seconds. Until then an operator's function whose clock is behind
/// may still move the end; clocks differ by less than this.
const SURELY_OVER_AFTER_S: u32 = 60;

/// What has been observed of a round so far, by examining it from time to time.
///
/// Each milestone is reached once, except for selling out: units that come back, or are added, may sell out again.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestones {
    pub opened_at_ms: Option<EpochMs>,
    /// Whether no unit was free when it was last examined.
    pub sold_out: bool,
    pub sold_out_times: u32,
    pub sold_out_at_ms: Option<EpochMs>,
    pub ended_at_ms: Option<EpochMs>,
}

#[derive(Debug, Clone, Copy)]
pub struct Observation {
    pub now: EpochMs,
    /// Units that are free or still to become available. `None` if Redis does not have the round.
    pub free: Option<u32>,
    pub stopped: bool,
}

impl Milestones {
    pub fn wants(&self, round: &Round, now: EpochMs) -> bool {
        self.ended_at_ms.is_none() && now >= round.terms.first_opens_at_ms()
    }

    /// Adds an observation.
    ///
    /// - A round is open once its time has come, Redis has it, and it is neither paused nor stopped, or once it has
    ///   sold something. After its end Redis may have forgotten what it sold.
    /// - It is sold out if no unit is free: all are held or ordered. Units that come back after its end cannot be
    ///   bought, so they change nothing.
    /// - It is over a minute after its end.
    #[must_use]
    pub fn after(&self, round: &Round, observation: Observation) -> Self {
        let mut seen = self.clone();
        if !self.wants(round, observation.now) {
            return seen;
        }
        let was_loaded = observation.free.is_some() || (round.is_over(observation.now) && round.loaded_at_ms.is_some());
        let has_sold = observation.free.is_some_and(|free| free < round.terms.total);
        if seen.opened_at_ms.is_none() && was_loaded && (!(round.paused || observation.stopped) || has_sold) {
            seen.opened_at_ms = Some(observation.now);
        }
        match observation.free {
            Some(0) if !seen.sold_out && seen.opened_at_ms.is_some() => {
                seen.sold_out = true;
                seen.sold_out_times += 1;
                seen.sold_out_at_ms = Some(observation.now);
            }
            Some(1..) if !round.is_over(observation.now) => seen.sold_out = false,
            _ => {}
        }
        if observation.now >= round.terms.closes_at_ms.plus_s(SURELY_OVER_AFTER_S) {
            seen.ended_at_ms = Some(observation.now);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Offer;
    use crate::terms::lamp;

    const OPENS: EpochMs = EpochMs(10 * 3_600_000);
    const CLOSES: EpochMs = EpochMs(12 * 3_600_000);
    const BEFORE: EpochMs = EpochMs(OPENS.0 - 1);
    const OVER: EpochMs = CLOSES.plus_s(SURELY_OVER_AFTER_S);

    fn round() -> Round {
        let (_, round) = Offer::draft("lamp".parse().unwrap(), lamp(OPENS, CLOSES), None).publish();
        Round { loaded_at_ms: Some(BEFORE), ..round }
    }

    fn minute(minutes: u32) -> EpochMs {
        OPENS.plus_s(minutes * 60)
    }

    /// The milestones after observations at these times, with these numbers of free units.
    fn observations(round: &Round, observations: &[(EpochMs, Option<u32>)]) -> Milestones {
        observations.iter().fold(Milestones::default(), |seen, (now, free)| {
            seen.after(round, Observation { now: *now, free: *free, stopped: false })
        })
    }

    #[test]
    fn a_round_opens_sells_out_again_and_again_and_ends() {
        let looks_of_a_day = [
            (BEFORE, Some(100)),
            (OPENS, Some(100)),
            (minute(1), Some(0)),
            (minute(2), Some(0)),
            (minute(3), Some(1)),
            (minute(4), Some(0)),
            (CLOSES, Some(5)),
            (OVER, Some(5)),
            (OVER.plus_s(60), Some(100)),
        ];
        let times: Vec<u32> = (1..=looks_of_a_day.len())
            .map(|so_far| observations(&round(), &looks_of_a_day[..so_far]).sold_out_times)
            .collect();
        assert_eq!(times, [0, 0, 1, 1, 1, 2, 2, 2, 2]);
        let expected = Milestones {
            opened_at_ms: Some(OPENS),
            sold_out: true,
            sold_out_times: 2,
            sold_out_at_ms: Some(minute(4)),
            ended_at_ms: Some(OVER),
        };
        assert_eq!(observations(&round(), &looks_of_a_day), expected);
    }

    #[test]
    fn a_look_that_comes_late_notes_all_at_once() {
        let seen = observations(&round(), &[(OVER, Some(0))]);
        assert_eq!((seen.opened_at_ms, seen.sold_out_times, seen.ended_at_ms), (Some(OVER), 1, Some(OVER)));
        let forgotten = observations(&round(), &[(OVER, None)]);
        assert_eq!((forgotten.opened_at_ms, forgotten.sold_out_times), (Some(OVER), 0), "its keys are gone");
    }

    #[test]
    fn a_redis_that_lost_the_round_says_nothing() {
        let seen = observations(&round(), &[(minute(1), Some(0)), (minute(2), None), (minute(3), Some(0))]);
        assert_eq!((seen.sold_out, seen.sold_out_times), (true, 1));
    }

    #[test]
    fn what_nobody_can_buy_from_is_not_open() {
        let never_loaded = Round { loaded_at_ms: None, ..round() };
        assert_eq!(observations(&never_loaded, &[(minute(1), None)]), Milestones::default());
        let loaded_since = observations(&never_loaded, &[(minute(1), Some(100))]);
        assert_eq!(loaded_since.opened_at_ms, Some(minute(1)));
        let paused = Round { paused: true, ..round() };
        assert_eq!(observations(&paused, &[(minute(1), Some(100))]), Milestones::default());
        assert_eq!(observations(&paused, &[(minute(1), Some(99))]).opened_at_ms, Some(minute(1)), "it was open before");
        let ended = observations(&paused, &[(OVER, Some(100))]);
        assert_eq!((ended.opened_at_ms, ended.ended_at_ms), (None, Some(OVER)));
    }

    #[test]
    fn a_sale_that_is_stopped_opens_when_it_is_started() {
        let seen = |stopped, free| {
            Milestones::default().after(&round(), Observation { now: minute(1), free, stopped }).opened_at_ms.is_some()
        };
        assert!(!seen(true, Some(100)) && seen(true, Some(99)) && seen(false, Some(100)));
        assert!(!seen(false, None), "Redis has lost it, and nobody can buy");
    }

    #[test]
    fn it_opens_with_its_first_group_and_ends_when_no_clock_disagrees() {
        let mut early = round();
        let group = "members".parse().unwrap();
        early.terms.early_access = vec![crate::EarlyAccess { group, lead_s: 600, quota: None }];
        let first = OPENS.minus_s(600);
        assert_eq!(observations(&early, &[(first, Some(100))]).opened_at_ms, Some(first));
        assert_eq!(observations(&round(), &[(EpochMs(OVER.0 - 1), Some(0))]).ended_at_ms, None);
    }
}
