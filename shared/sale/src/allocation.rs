use serde::{Deserialize, Serialize};

use crate::award::{self, BLANK, Plan};
use crate::invalid_terms::{InvalidTerms, is_name, require};
use crate::limits::MAX_PRICE_MINOR;
use crate::text_serde::is_default;

/// The largest number of units in a round whose units differ: their table is made, hashed and verified as a whole.
pub const MAX_AWARDS: u32 = 1_000_000;
const _: () = assert!(MAX_AWARDS <= award::MAX_PARTS && MAX_AWARDS <= award::MAX_TICKETS);
const _: () = assert!(MAX_PRICE_MINOR <= award::MAX_TOTAL_MINOR && MAX_PRIZES <= award::MAX_PRIZE_KINDS);
pub const MAX_PRIZES: usize = 20;
pub const MAX_PRIZE_NAME_LENGTH: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Allocation {
    #[default]
    Units,
    Split {
        /// The amount, in minor units of the currency of the price.
        total_minor: u64,
        /// The smallest part, in minor units.
        min_minor: u64,
        parts: Parts,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        beacon: bool,
    },
    /// A ticket, which wins a prize or nothing.
    Prizes {
        prizes: Vec<Prize>,
        #[serde(default, skip_serializing_if = "is_default")]
        draw: DrawTime,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        beacon: bool,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawTime {
    /// Before the round opens: each order says at once what its unit won.
    #[default]
    Instant,
    /// After the round: its orders are entries, and some of them win.
    AtEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parts {
    Equal,
    Drawn,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prize {
    pub name: String,
    pub count: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    #[default]
    Paid,
    /// Writing the order. It can then neither be cancelled nor expire.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Award {
    Amount {
        amount_minor: u64,
    },
    Prize {
        /// The number of the prize in the round, from 1.
        prize: u16,
    },
    Blank,
}

impl Allocation {
    pub const fn has_awards(&self) -> bool {
        !matches!(self, Self::Units)
    }

    /// Whether the winners are drawn once the round is over. Its orders are then entries, written without an award.
    pub const fn is_drawn_at_end(&self) -> bool {
        matches!(self, Self::Prizes { draw: DrawTime::AtEnd, .. })
    }

    pub const fn has_beacon(&self) -> bool {
        matches!(self, Self::Split { beacon: true, .. } | Self::Prizes { beacon: true, .. })
    }

    /// Whether a round needs its beacon before it can open, because each order says what its unit won.
    pub const fn opens_with_beacon(&self) -> bool {
        self.has_beacon() && !self.is_drawn_at_end()
    }

    /// The award for a value of the round's table. `None` if no unit of the round can have it.
    pub fn award(&self, value: u64) -> Option<Award> {
        match self {
            Self::Units => None,
            Self::Split { total_minor, min_minor, .. } => {
                (*min_minor..=*total_minor).contains(&value).then_some(Award::Amount { amount_minor: value })
            }
            Self::Prizes { .. } if value == BLANK => Some(Award::Blank),
            Self::Prizes { prizes, .. } => {
                let prize = u16::try_from(value).ok().filter(|prize| usize::from(*prize) <= prizes.len())?;
                Some(Award::Prize { prize })
            }
        }
    }

    /// The contents of the table of a round with this many units. `None` if all units are the same.
    pub fn plan(&self, units: u32) -> Option<Plan> {
        Some(match *self {
            Self::Units => return None,
            Self::Split { total_minor: total, min_minor: min, parts, .. } => match parts {
                Parts::Equal => Plan::Equal { total, parts: units, min },
                Parts::Drawn => Plan::Drawn { total, parts: units, min },
            },
            Self::Prizes { ref prizes, .. } => {
                Plan::Prizes { counts: prizes.iter().map(|prize| prize.count).collect(), tickets: units }
            }
        })
    }

    pub(crate) fn validate(
        &self,
        settlement: Settlement,
        price_minor: u64,
        per_user_limit: u8,
        total: u32,
    ) -> Result<(), InvalidTerms> {
        let is_free = settlement == Settlement::Free;
        require(!is_free || price_minor == 0, "price_minor", "price_minor must be 0 with settlement free")?;
        if !self.has_awards() {
            return Ok(());
        }
        // Orders could be given back after their award is known.
        require(is_free, "settlement", "settlement must be free with an allocation other than units")?;
        // A user could draw more than once.
        let once = "per_user_limit must be 1 with an allocation other than units";
        require(per_user_limit == 1, "per_user_limit", once)?;
        let most = format!("total must be at most {MAX_AWARDS} with an allocation other than units");
        require(total <= MAX_AWARDS, "total", most)?;
        self.holds_for(total)
    }

    fn holds_for(&self, units: u32) -> Result<(), InvalidTerms> {
        match self {
            Self::Units => Ok(()),
            Self::Split { total_minor, min_minor, parts, beacon } => {
                let differ = "beacon needs parts drawn or prizes: equal parts differ by one minor unit at most";
                require(!*beacon || *parts == Parts::Drawn, "allocation.beacon", differ)?;
                let least = min_minor.checked_mul(u64::from(units)).filter(|_| *min_minor > 0);
                let fits = least.is_some_and(|least| (least..=MAX_PRICE_MINOR).contains(total_minor));
                let problem = format!(
                    "min_minor must be at least 1, and total_minor at least total times min_minor and at most \
                     {MAX_PRICE_MINOR}"
                );
                require(fits, "allocation.min_minor", problem)
            }
            Self::Prizes { prizes, .. } => {
                let count: u64 = prizes.iter().map(|prize| u64::from(prize.count)).sum();
                let some_of_each = prizes.iter().all(|prize| prize.count > 0);
                let fit = (1..=MAX_PRIZES).contains(&prizes.len()) && some_of_each && count <= u64::from(units);
                let counts =
                    format!("prizes must be 1 to {MAX_PRIZES} kinds, of each at least 1, and together at most total");
                require(fit, "allocation.prizes", counts)?;
                let are_named = prizes.iter().all(|prize| is_name(&prize.name, MAX_PRIZE_NAME_LENGTH));
                let names = format!(
                    "the name of a prize must have 1 to {MAX_PRIZE_NAME_LENGTH} characters and no control characters"
                );
                require(are_named, "allocation.prizes", names)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use crate::terms::packet as with_awards;

    fn packet() -> Terms {
        with_awards(split(10_000, 1))
    }

    fn split(total_minor: u64, min_minor: u64) -> Allocation {
        Allocation::Split { total_minor, min_minor, parts: Parts::Drawn, beacon: false }
    }

    fn prizes(prizes: &[(&str, u32)]) -> Allocation {
        let prizes = prizes.iter().map(|(name, count)| Prize { name: (*name).to_owned(), count: *count });
        Allocation::Prizes { prizes: prizes.collect(), draw: DrawTime::Instant, beacon: false }
    }

    fn verdict(change: impl FnOnce(&mut Terms)) -> Result<(), &'static str> {
        let mut terms = packet();
        change(&mut terms);
        terms.validate().map_err(|invalid| invalid.field())
    }

    #[test]
    fn bounds_are_inclusive() {
        assert_eq!(packet().validate(), Ok(()));
        assert_eq!(verdict(|t| t.allocation = split(100, 1)), Ok(()));
        assert_eq!(verdict(|t| t.allocation = split(MAX_PRICE_MINOR, MAX_PRICE_MINOR / 100)), Ok(()));
        assert_eq!(verdict(|t| (t.total, t.allocation) = (MAX_AWARDS, split(u64::from(MAX_AWARDS), 1))), Ok(()));
        assert_eq!(verdict(|t| t.allocation = prizes(&[("A phone", 100)])), Ok(()));
        assert_eq!(verdict(|t| t.allocation = prizes(&[("A phone", 1); MAX_PRIZES])), Ok(()));
        assert_eq!(verdict(|t| t.allocation = prizes(&[(&"ü".repeat(MAX_PRIZE_NAME_LENGTH), 1)])), Ok(()));
        assert_eq!(verdict(|t| (t.allocation, t.per_user_limit) = (Allocation::Units, 5)), Ok(()));
    }

    #[test]
    fn a_table_can_be_made_of_what_can_be_sold_by() {
        let plan = |change: fn(&mut Terms)| {
            let mut terms = packet();
            change(&mut terms);
            assert_eq!(terms.validate(), Ok(()));
            let plan = terms.plan();
            assert!(plan.as_ref().is_none_or(|plan| plan.check().is_ok() && plan.units() == terms.total), "{plan:?}");
            plan
        };
        assert_eq!(plan(|_| {}), Some(Plan::Drawn { total: 10_000, parts: 100, min: 1 }));
        let equal = |terms: &mut Terms| {
            let (total_minor, min_minor) = (MAX_PRICE_MINOR, MAX_PRICE_MINOR / u64::from(MAX_AWARDS));
            terms.total = MAX_AWARDS;
            terms.allocation = Allocation::Split { total_minor, min_minor, parts: Parts::Equal, beacon: false };
        };
        assert_eq!(plan(equal), Some(Plan::Equal { total: MAX_PRICE_MINOR, parts: MAX_AWARDS, min: 1_000_000 }));
        let some_prizes = |terms: &mut Terms| terms.allocation = prizes(&[("A phone", 1), ("A cup", 20)]);
        assert_eq!(plan(some_prizes), Some(Plan::Prizes { counts: vec![1, 20], tickets: 100 }));
        assert_eq!(plan(|terms| terms.allocation = Allocation::Units), None);
    }

    #[test]
    fn a_value_of_the_table_is_an_award() {
        let (split, prizes) = (split(10_000, 5), prizes(&[("A phone", 1), ("A cup", 20)]));
        assert_eq!(split.award(137), Some(Award::Amount { amount_minor: 137 }));
        assert_eq!((split.award(4), split.award(10_001)), (None, None));
        assert_eq!(prizes.award(0), Some(Award::Blank));
        assert_eq!(prizes.award(2), Some(Award::Prize { prize: 2 }));
        assert_eq!((prizes.award(3), prizes.award(65_537)), (None, None));
        assert_eq!(Allocation::Units.award(0), None);
    }

    #[test]
    fn a_beacon_and_the_time_of_the_draw_are_stored_only_if_they_are_not_the_usual() {
        let split = r#"{"kind":"split","total_minor":100,"min_minor":1,"parts":"drawn"BEACON}"#;
        let prizes = r#"{"kind":"prizes","prizes":[{"name":"A phone","count":1}]BEACON}"#;
        let at_end = r#"{"kind":"prizes","prizes":[{"name":"A phone","count":1}],"draw":"at_end"BEACON}"#;
        for (stored, is_at_end) in [(split, false), (prizes, false), (at_end, true)] {
            for (beacon, has_beacon) in [("", false), (r#","beacon":true"#, true)] {
                let stored = stored.replace("BEACON", beacon);
                let allocation: Allocation = serde_json::from_str(&stored).unwrap();
                assert_eq!(serde_json::to_string(&allocation).unwrap(), stored);
                assert_eq!((allocation.has_awards(), allocation.is_drawn_at_end()), (true, is_at_end), "{stored}");
                let needs = (allocation.has_beacon(), allocation.opens_with_beacon());
                assert_eq!(needs, (has_beacon, has_beacon && !is_at_end), "{stored}");
            }
        }
        assert!(!Allocation::Units.is_drawn_at_end() && !Allocation::Units.has_beacon());
    }

    #[test]
    fn a_beacon_is_of_no_use_for_equal_parts() {
        let split = |parts| Allocation::Split { total_minor: 10_000, min_minor: 1, parts, beacon: true };
        assert_eq!(verdict(|t| t.allocation = split(Parts::Drawn)), Ok(()));
        assert_eq!(verdict(|t| t.allocation = split(Parts::Equal)), Err("allocation.beacon"));
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        assert_eq!(verdict(|t| t.price.price_minor = 1), Err("price_minor"));
        assert_eq!(verdict(|t| (t.price.price_minor, t.settlement) = (1, Settlement::Paid)), Err("settlement"));
        assert_eq!(verdict(|t| t.per_user_limit = 2), Err("per_user_limit"));
        assert_eq!(verdict(|t| (t.total, t.allocation) = (MAX_AWARDS + 1, split(2_000_000, 1))), Err("total"));
        assert_eq!(verdict(|t| t.allocation = split(99, 1)), Err("allocation.min_minor"));
        assert_eq!(verdict(|t| t.allocation = split(10_000, 0)), Err("allocation.min_minor"));
        assert_eq!(verdict(|t| t.allocation = split(10_000, u64::MAX)), Err("allocation.min_minor"));
        assert_eq!(verdict(|t| t.allocation = split(MAX_PRICE_MINOR + 1, 1)), Err("allocation.min_minor"));
        for bad in [&[][..], &[("A phone", 0)], &[("A phone", 101)], &[("A phone", 60), ("A cup", 41)]] {
            assert_eq!(verdict(|t| t.allocation = prizes(bad)), Err("allocation.prizes"), "{bad:?}");
        }
        assert_eq!(verdict(|t| t.allocation = prizes(&[("A phone", 1); MAX_PRIZES + 1])), Err("allocation.prizes"));
        let many = [("A phone", u32::MAX), ("A cup", u32::MAX)];
        assert_eq!(verdict(|t| t.allocation = prizes(&many)), Err("allocation.prizes"));
        for name in ["", "a\nb", &"x".repeat(MAX_PRIZE_NAME_LENGTH + 1)] {
            assert_eq!(verdict(|t| t.allocation = prizes(&[(name, 1)])), Err("allocation.prizes"), "{name}");
        }
    }
}
