use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, require};
use crate::text_serde::is_default;
use crate::{EpochMs, MAX_SALE_DURATION_S, MAX_TOTAL};

/// The largest number of drops in a plan. They are in the string that every call to Redis reads.
pub const MAX_DROPS: usize = 32;
pub const MAX_EVERY_S: u32 = 24 * 60 * 60;

/// When the units of a round become available. Units that have not dropped before the round closes are not sold.
///
/// Times count from the opening, so all rounds of a recurring sale have their offer's plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rain {
    /// Units that are available when the plan begins: at the opening, or at the last change of the plan. After a change
    /// it includes the units that were available before.
    pub at_once: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// Drops at given times, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<RainDrop>,
    /// When the plan begins, in milliseconds after the opening: 0 unless it was changed in a running round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from_ms: u64,
}

/// A steady rate. The first drop comes one interval after the plan begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    pub units: u32,
    pub every_s: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RainDrop {
    /// When they become available, in seconds after the opening.
    pub after_s: u32,
    pub units: u32,
}

impl Rain {
    pub(crate) fn validate(&self, total: u32) -> Result<(), InvalidTerms> {
        let Self { at_once, steady, drops, from_ms: _ } = self;
        let is_rate =
            |Steady { units, every_s }: &Steady| (1..=MAX_TOTAL).contains(units) && (1..=MAX_EVERY_S).contains(every_s);
        let is_drop = |RainDrop { after_s, units }: &RainDrop| {
            (1..=MAX_TOTAL).contains(units) && (1..=MAX_SALE_DURATION_S).contains(after_s)
        };
        let are_in_order = drops.windows(2).all(|pair| pair[0].after_s < pair[1].after_s);
        let are_drops = drops.len() <= MAX_DROPS && drops.iter().all(is_drop) && are_in_order;
        require(*at_once <= total, "rain", "rain.at_once must be at most total")?;
        let rates = format!("rain.steady must have units of 1 to {MAX_TOTAL} and every_s of 1 to {MAX_EVERY_S}");
        require(steady.iter().all(is_rate), "rain", rates)?;
        let listed = format!(
            "rain.drops must be at most {MAX_DROPS}, each of 1 to {MAX_TOTAL} units, after_s 1 to \
             {MAX_SALE_DURATION_S} and later than the one before"
        );
        require(are_drops, "rain", listed)
    }

    /// Replaces this plan, which is in force in a running round, by `new` from `now` on. Available units stay
    /// available, and `new`'s `at_once` is added to them. There are never fewer than at `now`.
    ///
    /// An unchanged steady rate keeps its rhythm, so any number of changes does not delay its next drop. Another rate
    /// begins now. Drops of `new` in the past are left out: [`Round::rain`](crate::Round::rain) refuses them.
    pub(crate) fn replaced_by(&self, new: &Self, opens_at: EpochMs, total: u32, now: EpochMs) -> Self {
        let now_ms = now.since_ms(opens_at);
        let is_ahead = |drop: &RainDrop| u64::from(drop.after_s) * 1000 > now_ms;
        let dropped = |rain: &Self| -> u64 {
            let listed = rain.drops.iter().filter(|drop| !is_ahead(drop)).map(|drop| u64::from(drop.units));
            u64::from(rain.at_once) + listed.sum::<u64>()
        };
        let (available, from_ms) = if new.steady == self.steady {
            (dropped(self), self.from_ms)
        } else {
            (u64::from(RainPlan::of(self, opens_at, total).available(now)), now_ms)
        };
        let at_once = available.saturating_add(u64::from(new.at_once)).min(u64::from(total));
        let drops = new.drops.iter().filter(|drop| is_ahead(drop)).copied().collect();
        Self { at_once: u32::try_from(at_once).unwrap_or(total), steady: new.steady, drops, from_ms }
    }
}

/// Formats a plan for logs: `5 at once, 2 every 10 s, 7 after 60 s`.
impl fmt::Display for Rain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at once", self.at_once)?;
        self.steady.iter().try_for_each(|steady| write!(f, ", {} every {} s", steady.units, steady.every_s))?;
        self.drops.iter().try_for_each(|drop| write!(f, ", {} after {} s", drop.units, drop.after_s))
    }
}

/// The plan of one round with absolute times, as Redis stores it.
///
/// Its text is `LAST FROM_MS UNITS EVERY_MS`, followed by ` AT_MS+UNITS` for each drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RainPlan {
    /// The last unit of the round; no later one ever becomes available.
    pub last: u32,
    pub from_ms: EpochMs,
    /// Units in each steady drop; 0 without a steady rate.
    pub units: u32,
    /// Milliseconds between two steady drops.
    pub every_ms: u64,
    pub drops: Vec<(EpochMs, u32)>,
}

impl RainPlan {
    pub(crate) fn of(rain: &Rain, opening: EpochMs, total: u32) -> Self {
        let from_ms = EpochMs(opening.0.saturating_add_unsigned(rain.from_ms));
        let first = (rain.at_once > 0).then_some((from_ms, rain.at_once));
        let listed = rain.drops.iter().map(|drop| (opening.plus_s(drop.after_s), drop.units));
        Self {
            last: total,
            from_ms,
            units: rain.steady.map_or(0, |steady| steady.units),
            every_ms: rain.steady.map_or(0, |steady| u64::from(steady.every_s) * 1000),
            drops: first.into_iter().chain(listed).collect(),
        }
    }

    /// How many units have become available by this time, sold or not: units 1 to this number.
    pub fn available(&self, at: EpochMs) -> u32 {
        let listed: u64 = self.drops.iter().filter(|drop| drop.0 <= at).map(|drop| u64::from(drop.1)).sum();
        let all = listed.saturating_add(u64::from(self.units).saturating_mul(self.beats(at)));
        u32::try_from(all).map_or(self.last, |all| all.min(self.last))
    }

    pub fn next_drop(&self, after: EpochMs) -> Option<EpochMs> {
        if self.available(after) >= self.last {
            return None;
        }
        let next_beat = self.every_ms.saturating_mul(self.beats(after) + 1);
        let steady = (self.units > 0).then(|| EpochMs(self.from_ms.0.saturating_add_unsigned(next_beat)));
        let listed = self.drops.iter().map(|drop| drop.0).filter(|at| *at > after).min();
        steady.into_iter().chain(listed).min()
    }

    fn beats(&self, at: EpochMs) -> u64 {
        at.since_ms(self.from_ms).checked_div(self.every_ms).unwrap_or(0)
    }
}

impl fmt::Display for RainPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { last, from_ms, units, every_ms, drops } = self;
        write!(f, "{last} {} {units} {every_ms}", from_ms.0)?;
        drops.iter().try_for_each(|(at, units)| write!(f, " {}+{units}", at.0))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a plan of drops")]
pub struct InvalidRainPlan;

impl FromStr for RainPlan {
    type Err = InvalidRainPlan;

    fn from_str(text: &str) -> Result<Self, InvalidRainPlan> {
        fn number<T: FromStr>(text: Option<&str>) -> Result<T, InvalidRainPlan> {
            text.and_then(|text| text.parse().ok()).ok_or(InvalidRainPlan)
        }
        let mut words = text.split_ascii_whitespace();
        Ok(Self {
            last: number(words.next())?,
            from_ms: EpochMs(number(words.next())?),
            units: number(words.next())?,
            every_ms: number(words.next())?,
            drops: words
                .map(|word| {
                    let (at, units) = word.split_once('+').ok_or(InvalidRainPlan)?;
                    Ok((EpochMs(number(Some(at))?), number(Some(units))?))
                })
                .collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::terms::lamp;
    use crate::{Offer, Refusal, Round, Terms};

    const OPENS: EpochMs = EpochMs(1_000_000);

    fn drops<const N: usize>(listed: [(u32, u32); N]) -> Vec<RainDrop> {
        listed.into_iter().map(|(after_s, units)| RainDrop { after_s, units }).collect()
    }

    fn steady(units: u32, every_s: u32) -> Rain {
        Rain { steady: Some(Steady { units, every_s }), ..Rain::default() }
    }

    fn terms(total: u32, rain: Rain) -> Terms {
        Terms { total, rain: Some(rain), ..lamp(OPENS, at(3600)) }
    }

    fn round(total: u32, rain: Rain) -> Round {
        let (_, round) = Offer::draft("lamp".parse().unwrap(), terms(total, rain), None).publish();
        Round { loaded_at_ms: Some(EpochMs(0)), ..round }
    }

    fn at(seconds: i64) -> EpochMs {
        EpochMs(OPENS.0 + seconds * 1000)
    }

    fn plan(round: &Round) -> RainPlan {
        round.terms.rain_plan().unwrap()
    }

    #[test]
    fn units_become_available_at_once_steadily_and_in_drops() {
        let rain = Rain { at_once: 3, drops: drops([(25, 7), (40, 100)]), ..steady(2, 10) };
        let plan = plan(&round(50, rain));
        let next = |seconds| plan.next_drop(at(seconds)).map(|next| (next.0 - OPENS.0) / 1000);
        let first = [(-1, 0, Some(0)), (0, 3, Some(10)), (9, 3, Some(10)), (10, 5, Some(20)), (20, 7, Some(25))];
        let then = [(25, 14, Some(30)), (39, 16, Some(40)), (40, 50, None), (900, 50, None)];
        for (seconds, available, next_drop) in first.into_iter().chain(then) {
            assert_eq!((plan.available(at(seconds)), next(seconds)), (available, next_drop), "after {seconds} s");
        }
    }

    #[test]
    fn bounds_are_inclusive_and_hold() {
        let verdict = |rain: Rain| terms(100, rain).validate().err().map(|invalid| invalid.to_string());
        let begins = |rain: Rain, with: &str| assert!(verdict(rain).unwrap().starts_with(with));
        let listed = |listed| Rain { drops: listed, ..Rain::default() };
        let many = |count: usize| (1..=count as u32).map(|after_s| RainDrop { after_s, units: 1 }).collect();
        for fine in [
            Rain::default(),
            Rain { at_once: 100, ..Rain::default() },
            steady(MAX_TOTAL, MAX_EVERY_S),
            steady(1, 1),
            listed(many(MAX_DROPS)),
            listed(drops([(MAX_SALE_DURATION_S, MAX_TOTAL)])),
        ] {
            assert_eq!(verdict(fine), None);
        }
        begins(Rain { at_once: 101, ..Rain::default() }, "rain.at_once");
        for (units, every_s) in [(0, 1), (1, 0), (MAX_TOTAL + 1, 1), (1, MAX_EVERY_S + 1)] {
            begins(steady(units, every_s), "rain.steady");
        }
        for bad in [
            many(MAX_DROPS + 1),
            drops([(0, 1)]),
            drops([(1, 0)]),
            drops([(1, MAX_TOTAL + 1)]),
            drops([(MAX_SALE_DURATION_S + 1, 1)]),
            drops([(2, 1), (2, 1)]),
            drops([(2, 1), (1, 1)]),
        ] {
            begins(listed(bad), "rain.drops");
        }
    }

    #[test]
    fn a_change_adds_to_what_is_available_and_sets_the_rate() {
        let running = round(1000, Rain { at_once: 10, drops: drops([(30, 5)]), ..steady(10, 10) });
        let slower = running.clone().rain(&Rain { at_once: 1, ..steady(1, 10) }, at(35)).unwrap();
        let available = [35, 44, 45, 55].map(|seconds| plan(&slower).available(at(seconds)));
        assert_eq!(available, [46, 46, 47, 48], "10 + 3 times 10 + 5, one more, and one every 10 s from then on");
        let same = running.clone().rain(&Rain { drops: drops([(60, 9)]), ..steady(10, 10) }, at(35)).unwrap();
        let available = [35, 39, 40, 60].map(|seconds| plan(&same).available(at(seconds)));
        assert_eq!(available, [45, 45, 55, 84], "the beat stays, and the next drop is not delayed");
        let ended = running.rain(&Rain::default(), at(35)).unwrap();
        assert_eq!((plan(&ended).available(at(3000)), plan(&ended).next_drop(at(35))), (45, None));
    }

    #[test]
    fn added_units_are_available_at_once_and_the_plan_goes_on() {
        let running = round(30, Rain { at_once: 10, ..steady(10, 10) });
        let more = running.restock(5, at(5)).unwrap();
        assert_eq!([5, 10, 20, 30].map(|seconds| plan(&more).available(at(seconds))), [15, 25, 35, 35]);
        let late = more.restock(7, at(600)).unwrap();
        assert_eq!(plan(&late).available(at(600)), 42);
    }

    #[test]
    fn what_may_be_changed_when() {
        let (before, during) = (EpochMs(OPENS.0 - 1), at(35));
        let new = Rain { drops: drops([(30, 5)]), ..steady(2, 10) };
        let running = round(100, steady(10, 10));
        assert_eq!(running.clone().rain(&new, before).unwrap().terms.rain, Some(new.clone()), "nothing is out yet");
        let (ten, three) = (Rain { at_once: 10, ..steady(10, 10) }, Rain { at_once: 3, ..steady(10, 10) });
        assert_eq!(round(100, ten).rain(&three, before).unwrap().terms.rain, Some(three), "not even those at once");
        assert_eq!(running.clone().rain(&new, during), Err(Refusal::DropIsOver(30)));
        assert_eq!(running.clone().rain(&new, at(3600)), Err(Refusal::Over));
        let refused = running.clone().rain(&steady(0, 10), during);
        assert!(matches!(refused, Err(Refusal::Terms(invalid)) if invalid.field() == "rain"));
        let plain = Round { terms: Terms { rain: None, ..running.terms.clone() }, ..running.clone() };
        assert_eq!(plain.clone().rain(&new, before), Err(Refusal::Loaded("rain")), "all of its units are out");
        let coming = Round { loaded_at_ms: None, ..plain };
        assert_eq!(coming.clone().rain(&new, before).unwrap().terms.rain, Some(new.clone()));
        assert_eq!(coming.rain(&new, during), Err(Refusal::Loaded("rain")));
    }

    #[test]
    fn whatever_is_changed_nothing_is_taken_back() {
        let mut random = StdRng::seed_from_u64(15);
        for case in 0..2000 {
            let mut any = |now_s: u32| {
                let mut listed: Vec<u32> =
                    (0..random.random_range(0..4)).map(|_| random.random_range(1..300)).collect();
                listed.sort_unstable();
                listed.dedup();
                let listed = listed.into_iter().map(|ahead| (now_s + ahead, random.random_range(1..60)));
                let drops = listed.map(|(after_s, units)| RainDrop { after_s, units }).collect();
                let steady = random
                    .random_bool(0.7)
                    .then(|| Steady { units: random.random_range(1..5), every_s: random.random_range(1..20) });
                let times = [random.random_range(0..100), random.random_range(1..40), random.random_range(0..3)];
                (Rain { at_once: random.random_range(0..20), steady, drops, from_ms: 0 }, times)
            };
            let (first, _) = any(0);
            let mut round = round(200, first);
            let mut now_s = 0;
            for _ in 0..8 {
                let (new, [wait_s, units, kind]) = any(now_s + 100);
                now_s += wait_s;
                let now = at(i64::from(now_s));
                let before = plan(&round).available(now);
                round = match kind {
                    0 => round.restock(units, now).unwrap(),
                    1 => {
                        let steady = round.terms.rain.as_ref().unwrap().steady;
                        round.rain(&Rain { steady, ..new }, now).unwrap()
                    }
                    _ => round.rain(&new, now).unwrap(),
                };
                let after = plan(&round);
                assert!(after.available(now) >= before, "case {case}: {before} were available of {round:?}");
                let mut last = after.available(now);
                for later in 0..50 {
                    let then = EpochMs(now.0 + later * 7_300);
                    assert!(after.available(then) >= last, "case {case}: it never falls");
                    last = after.available(then);
                    if let Some(next) = after.next_drop(then) {
                        let just_before = EpochMs(next.0 - 1).max(then);
                        assert_eq!(after.available(just_before), last, "case {case}: a drop before the next one");
                        assert!(after.available(next) > last, "case {case}: the next drop is one");
                    } else {
                        assert_eq!(after.available(EpochMs(then.0 + 86_400_000)), last, "case {case}");
                    }
                }
                let read: RainPlan = after.to_string().parse().unwrap();
                assert_eq!(read, after, "its text says it all");
            }
        }
    }

    #[test]
    fn a_plan_is_shown_and_read_as_text() {
        let rain = Rain { at_once: 5, drops: drops([(60, 7)]), ..steady(2, 10) };
        assert_eq!(rain.to_string(), "5 at once, 2 every 10 s, 7 after 60 s");
        assert_eq!("".parse::<RainPlan>(), Err(InvalidRainPlan));
        assert_eq!("5 1 0 0 7".parse::<RainPlan>(), Err(InvalidRainPlan));
    }
}
