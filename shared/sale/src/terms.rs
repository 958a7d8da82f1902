use serde::{Deserialize, Serialize};

use crate::award;
use crate::invalid_terms::{InvalidTerms, is_name, require, within};
use crate::limits::{MAX_PRICE_MINOR, MAX_SALE_DURATION_S, MAX_TITLE_LENGTH, MAX_TOTAL};
use crate::text_serde::is_default;
use crate::{
    Allocation, BuyerClass, DoorTerms, EarlyAccess, EpochMs, GateTerms, Goods, GroupName, LineTerms, MAX_LANES,
    MemberQuota, Price, Rain, RainPlan, Settlement,
};

/// The largest number of purchases of one user in a round. A user's record in Redis has one entry for each.
pub const MAX_PER_USER_LIMIT: u8 = 20;
/// The shortest payment window, in seconds. With less, an order could expire before its buyer knows of it.
pub const MIN_PAYMENT_WINDOW_S: u32 = 5;
pub const MAX_PAYMENT_WINDOW_S: u32 = 24 * 60 * 60;
/// The highest limit of a throttled sale in requests a second: more would have no effect.
pub const MAX_THROTTLE_REQUESTS_PER_S: u32 = 100_000;
pub const MAX_EXPECTED_AUDIENCE: u32 = 100_000_000;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub title: String,
    #[serde(flatten)]
    pub goods: Goods,
    /// When everyone can start buying. Groups with early access can start before.
    pub opens_at_ms: EpochMs,
    pub closes_at_ms: EpochMs,
    /// Units in a round, numbered from 1.
    pub total: u32,
    pub per_user_limit: u8,
    #[serde(flatten)]
    pub price: Price,
    pub payment_window_s: u32,
    pub door: DoorTerms,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gate: GateTerms,
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocation: Allocation,
    #[serde(default, skip_serializing_if = "is_default")]
    pub settlement: Settlement,
    /// When its units become available. Without it all of them are available at the opening.
    pub rain: Option<Rain>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early_access: Vec<EarlyAccess>,
    /// The line in front of its gate. Without it everybody comes at once.
    pub line: Option<LineTerms>,
    /// How many people operators expect. Not shown to buyers.
    pub expected_audience: Option<u32>,
    /// The number of lanes. Fixed once the sale is published.
    #[serde(default = "one_lane", skip_serializing_if = "is_one_lane")]
    pub lanes: u16,
}

const fn one_lane() -> u16 {
    1
}

fn is_one_lane(lanes: &u16) -> bool {
    *lanes == 1
}

impl Terms {
    pub fn plan(&self) -> Option<award::Plan> {
        self.allocation.plan(self.total)
    }

    pub fn rain_plan(&self) -> Option<RainPlan> {
        self.rain.as_ref().map(|rain| RainPlan::of(rain, self.opens_at_ms, self.total))
    }

    /// When the first users can buy: the earliest opening of a group, or everyone's.
    pub fn first_opens_at_ms(&self) -> EpochMs {
        self.opens_at_ms.minus_s(self.longest_lead_s())
    }

    pub(crate) fn longest_lead_s(&self) -> u32 {
        EarlyAccess::longest_lead_s(&self.early_access)
    }

    pub fn quota(&self) -> Option<(u32, EpochMs)> {
        let MemberQuota { units, for_s } = self.early_access.iter().find_map(|early| early.quota)?;
        Some((units, self.opens_at_ms.plus_s(for_s)))
    }

    pub fn groups_matter_until_ms(&self) -> Option<EpochMs> {
        let until = self.quota().map_or(self.opens_at_ms, |(_, until)| until);
        (!self.early_access.is_empty()).then_some(until)
    }

    /// What a user may do who is in the groups for which `is_member` is true: the best of each.
    pub fn class_of(&self, is_member: impl Fn(&GroupName) -> bool) -> BuyerClass {
        BuyerClass::of(self.early_access.iter().filter(|early| is_member(&early.group)))
    }

    pub fn validate(&self) -> Result<(), InvalidTerms> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// All violated bounds; of the door, the allocation, the rain and early access only the first one each.
    pub fn problems(&self) -> Vec<InvalidTerms> {
        let longest_ms = u64::from(MAX_SALE_DURATION_S) * 1000;
        let is_window = (1..=longest_ms).contains(&self.closes_at_ms.since_ms(self.opens_at_ms));
        let title = format!("title must have 1 to {MAX_TITLE_LENGTH} characters and no control characters");
        let days = MAX_SALE_DURATION_S / 86_400;
        let window = format!("closes_at must be after opens_at and at most {days} days later");
        let is_audience = |people| within(1..=MAX_EXPECTED_AUDIENCE, "expected_audience", people);
        let (price_minor, early_access) = (self.price.price_minor, &self.early_access);
        let checks = [
            require(is_name(&self.title, MAX_TITLE_LENGTH), "title", title),
            require(is_window && self.opens_at_ms.0 >= 0, "closes_at", window),
            within(1..=MAX_TOTAL, "total", self.total),
            within(1..=MAX_PER_USER_LIMIT, "per_user_limit", self.per_user_limit),
            within(0..=MAX_PRICE_MINOR, "price_minor", price_minor),
            within(MIN_PAYMENT_WINDOW_S..=MAX_PAYMENT_WINDOW_S, "payment_window_s", self.payment_window_s),
            self.expected_audience.map_or(Ok(()), is_audience),
            within(1..=MAX_LANES, "lanes", self.lanes),
            self.needs_one_lane().filter(|_| self.lanes > 1).map_or(Ok(()), |what| Err(one_lane_only(what))),
            self.goods.validate(price_minor),
            self.door.validate(),
            self.allocation.validate(self.settlement, price_minor, self.per_user_limit, self.total),
            self.gate.validate(self.allocation.has_awards()),
            self.rain.as_ref().map_or(Ok(()), |rain| rain.validate(self.total)),
            self.line.map_or(Ok(()), |line| line.validate(!early_access.is_empty(), self.gate.is_hidden())),
            // Early access is relative to the window, so it is not checked if the window is wrong.
            if is_window { self.validate_early_access() } else { Ok(()) },
        ];
        checks.into_iter().filter_map(Result::err).collect()
    }

    pub(crate) fn validate_early_access(&self) -> Result<(), InvalidTerms> {
        let Self { early_access, opens_at_ms, closes_at_ms, total, rain, .. } = self;
        EarlyAccess::validate(early_access, *opens_at_ms, *closes_at_ms, *total, rain.is_some())
    }

    /// A term that requires a single lane, because it counts all units of a round in one place.
    fn needs_one_lane(&self) -> Option<&'static str> {
        let needs = [
            (self.rain.is_some(), "rain"),
            (self.quota().is_some(), "a group's quota"),
            (self.allocation.is_drawn_at_end(), "a draw at the end"),
        ];
        needs.into_iter().find(|(is_needed, _)| *is_needed).map(|(_, what)| what)
    }
}

pub(crate) fn one_lane_only(what: &str) -> InvalidTerms {
    InvalidTerms::new("lanes", format!("lanes must be 1 for a sale with {what}"))
}

/// Plain terms for tests.
#[cfg(test)]
pub(crate) fn lamp(opens_at_ms: EpochMs, closes_at_ms: EpochMs) -> Terms {
    Terms {
        title: "A lamp".into(),
        goods: Goods::default(),
        opens_at_ms,
        closes_at_ms,
        total: 100,
        per_user_limit: 1,
        price: Price { price_minor: 990, currency: "EUR".parse().unwrap() },
        payment_window_s: 900,
        door: DoorTerms::default(),
        gate: GateTerms::default(),
        allocation: Allocation::default(),
        settlement: Settlement::default(),
        rain: None,
        early_access: Vec::new(),
        line: None,
        expected_audience: None,
        lanes: 1,
    }
}

/// Terms of a free sale for tests, in which units differ.
#[cfg(test)]
pub(crate) fn packet(allocation: Allocation) -> Terms {
    let price = Price { price_minor: 0, currency: "EUR".parse().unwrap() };
    Terms { price, allocation, settlement: Settlement::Free, ..lamp(EpochMs(1_000), EpochMs(2_000)) }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use serde_json::json;

    use super::*;
    use crate::{
        MAX_BLOCKED_FOR_S, MAX_PLANNED_REQUESTS_PER_S, MAX_VIOLATION_WINDOW_S, MAX_VIOLATIONS, MAX_WORK_BITS,
        MIN_WORK_BITS,
    };

    fn terms() -> Terms {
        lamp(EpochMs(1_000_000), EpochMs(2_000_000))
    }

    fn verdict(change: impl FnOnce(&mut Terms)) -> Result<(), &'static str> {
        let mut terms = terms();
        change(&mut terms);
        terms.validate().map_err(|invalid| invalid.field())
    }

    /// Of a term that may have the values of `range`, and not those beside it.
    fn has_bounds(field: &str, range: RangeInclusive<u64>, set: fn(&mut Terms, u64)) {
        let (first, last) = range.into_inner();
        let below = first.checked_sub(1).map(|below| (below, Err(field)));
        for (value, expected) in [(first, Ok(())), (last, Ok(())), (last + 1, Err(field))].into_iter().chain(below) {
            assert_eq!(verdict(|terms| set(terms, value)), expected, "{field}: {value}");
        }
    }

    #[test]
    fn bounds_are_inclusive_and_hold() {
        const LINE: LineTerms = LineTerms { opens_early_s: 3600, admits_per_s: 50, paused: false };
        let longest_ms = u64::from(MAX_SALE_DURATION_S) * 1000;
        has_bounds("closes_at", 1_000_001..=1_000_000 + longest_ms, |t, n| t.closes_at_ms = EpochMs(n as i64));
        has_bounds("total", 1..=MAX_TOTAL.into(), |t, n| t.total = n as u32);
        has_bounds("per_user_limit", 1..=MAX_PER_USER_LIMIT.into(), |t, n| t.per_user_limit = n as u8);
        has_bounds("price_minor", 0..=MAX_PRICE_MINOR, |t, n| t.price.price_minor = n);
        has_bounds("list_price_minor", 991..=MAX_PRICE_MINOR, |t, n| t.goods.list_price_minor = Some(n));
        let payment_window_s = MIN_PAYMENT_WINDOW_S.into()..=MAX_PAYMENT_WINDOW_S.into();
        has_bounds("payment_window_s", payment_window_s, |t, n| t.payment_window_s = n as u32);
        let audience = 1..=MAX_EXPECTED_AUDIENCE.into();
        has_bounds("expected_audience", audience, |t, n| t.expected_audience = Some(n as u32));
        has_bounds("lanes", 1..=MAX_LANES.into(), |t, n| t.lanes = n as u16);
        has_bounds("door.violations", 1..=MAX_VIOLATIONS.into(), |t, n| t.door.violations = n as u32);
        let window_s = 1..=MAX_VIOLATION_WINDOW_S.into();
        has_bounds("door.violation_window_s", window_s, |t, n| t.door.violation_window_s = n as u32);
        has_bounds("door.blocked_for_s", 1..=MAX_BLOCKED_FOR_S.into(), |t, n| t.door.blocked_for_s = n as u32);
        let plan = 1..=MAX_PLANNED_REQUESTS_PER_S.into();
        has_bounds("door.planned_requests_per_s", plan, |t, n| t.door.planned_requests_per_s = Some(n as u32));
        has_bounds("gate.work_bits", MIN_WORK_BITS.into()..=MAX_WORK_BITS.into(), |t, n| t.gate.work_bits = n as u8);
        has_bounds("line.opens_early_s", 1..=86_400, |t, n| {
            t.line = Some(LineTerms { opens_early_s: n as u32, ..LINE });
        });
        has_bounds("line.admits_per_s", 1..=100_000, |t, n| {
            t.line = Some(LineTerms { admits_per_s: n as u32, ..LINE });
        });
        assert_eq!(verdict(|t| t.door.unpaid_limit = 0), Err("door.unpaid_limit"));
        assert_eq!(verdict(|t| t.door.unpaid_limit = 1), Ok(()));
        assert_eq!(Terms { total: 0, ..terms() }.validate().unwrap_err().to_string(), "total must be 1 to 10000000");
    }

    #[test]
    fn a_title_is_short_and_plain_and_a_window_is_not_empty() {
        assert_eq!(terms().validate(), Ok(()));
        assert_eq!(verdict(|t| t.title = "ü".repeat(MAX_TITLE_LENGTH)), Ok(()));
        for title in ["", "a\nb", &"x".repeat(MAX_TITLE_LENGTH + 1)] {
            assert_eq!(verdict(|t| t.title = title.into()), Err("title"));
        }
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(0)), Err("closes_at"));
        assert_eq!(verdict(|t| t.opens_at_ms = EpochMs(-1)), Err("closes_at"));
    }

    #[test]
    fn each_bound_that_does_not_hold_is_told_with_its_field() {
        let mut terms = terms();
        terms.title.clear();
        terms.closes_at_ms = terms.opens_at_ms;
        terms.total = 0;
        terms.door.violations = 0;
        let fields: Vec<&str> = terms.problems().iter().map(InvalidTerms::field).collect();
        assert_eq!(fields, ["title", "closes_at", "total", "door.violations"]);
    }

    #[test]
    fn what_counts_all_units_in_one_place_has_one_lane() {
        let rain = |t: &mut Terms| t.rain = Some(Rain { at_once: t.total, ..Rain::default() });
        let quota = |t: &mut Terms| {
            let quota = Some(MemberQuota { units: 1, for_s: 60 });
            t.early_access = vec![EarlyAccess { group: "members".parse().unwrap(), lead_s: 60, quota }];
        };
        let only = |what| Err(one_lane_only(what));
        for (change, what) in [(&rain as &dyn Fn(&mut Terms), "rain"), (&quota, "a group's quota")] {
            for (lanes, expected) in [(1, Ok(())), (2, only(what))] {
                let mut terms = terms();
                change(&mut terms);
                terms.lanes = lanes;
                assert_eq!(terms.validate(), expected, "{what} with {lanes}");
            }
        }
    }

    #[test]
    fn what_a_sale_lacks_is_not_stored() {
        let plain = json!({
            "title": "A lamp", "opens_at_ms": 1_000_000, "closes_at_ms": 2_000_000, "total": 100, "per_user_limit": 1,
            "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
            "door": { "violations": 10, "violation_window_s": 600, "blocked_for_s": 3600, "unpaid_limit": 3 },
        });
        assert_eq!(serde_json::to_value(terms()).unwrap(), plain);
        assert_eq!(serde_json::from_value::<Terms>(plain.clone()).unwrap(), terms());
        let drops = json!([{ "after_s": 60, "units": 7 }]);
        let quota = json!({ "units": 10, "for_s": 300 });
        for (term, stored) in [
            ("gate", json!({ "challenge": "none", "work_bits": 20 })),
            ("line", json!({ "opens_early_s": 3600, "admits_per_s": 50 })),
            ("rain", json!({ "at_once": 5 })),
            (
                "rain",
                json!({ "at_once": 5, "steady": { "units": 2, "every_s": 10 }, "drops": drops, "from_ms": 31_500 }),
            ),
            ("early_access", json!([{ "group": "a", "lead_s": 60 }, { "group": "b", "lead_s": 0, "quota": quota }])),
            ("lanes", json!(8)),
        ] {
            let mut with_term = plain.clone();
            with_term[term] = stored;
            let read: Terms = serde_json::from_value(with_term.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), with_term);
        }
    }
}
