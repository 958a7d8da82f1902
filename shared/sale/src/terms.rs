use serde::{Deserialize, Serialize};

use crate::{
    Allocation, DoorTerms, EarlyAccess, EpochMs, GateTerms, Goods, InvalidAllocation, InvalidDoor, InvalidEarlyAccess,
    InvalidGate, InvalidGoods, InvalidLine, InvalidRain, LineTerms, MAX_LANES, Price, Rain, Settlement,
};

/// The largest number of units in a round: what the design was measured with.
pub const MAX_TOTAL: u32 = 10_000_000;
/// The largest number of purchases of one user in a round. A user's record in Redis has one entry for each.
pub const MAX_PER_USER_LIMIT: u8 = 20;
/// The highest price in minor units: exact in every JSON reader (2^53), with room for sums.
pub const MAX_PRICE_MINOR: u64 = 1_000_000_000_000;
/// The longest title, in characters.
pub const MAX_TITLE_LENGTH: usize = 200;
/// The shortest payment window, in seconds. With less, an order could expire before its buyer knows of it.
pub const MIN_PAYMENT_WINDOW_S: u32 = 5;
/// The longest payment window, in seconds.
pub const MAX_PAYMENT_WINDOW_S: u32 = 24 * 60 * 60;
/// The highest limit of an isolated sale in requests a second: more would have no effect.
pub const MAX_ISOLATED_REQUESTS_PER_S: u32 = 100_000;
/// The largest audience that a sale can be prepared for.
pub const MAX_EXPECTED_AUDIENCE: u32 = 100_000_000;
/// The longest time from opening to closing, in seconds.
pub const MAX_SALE_DURATION_S: u32 = 31 * 24 * 60 * 60;

/// The terms of a sale, or of one of its rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// What is sold, shown to people.
    pub title: String,
    /// The description of the goods.
    #[serde(flatten)]
    pub goods: Goods,
    /// When everyone can start buying. Groups with early access can start before.
    pub opens_at_ms: EpochMs,
    /// When buying ends.
    pub closes_at_ms: EpochMs,
    /// Units in a round, numbered from 1.
    pub total: u32,
    /// The most live orders of one user in a round.
    pub per_user_limit: u8,
    /// Price of one unit.
    #[serde(flatten)]
    pub price: Price,
    /// How long an order waits for its payment.
    pub payment_window_s: u32,
    /// Who is kept out.
    pub door: DoorTerms,
    /// What its gate requires, and who may see it and buy.
    #[serde(default, skip_serializing_if = "GateTerms::is_default")]
    pub gate: GateTerms,
    /// What a unit stands for.
    #[serde(default, skip_serializing_if = "Allocation::is_default")]
    pub allocation: Allocation,
    /// What makes an order final.
    #[serde(default, skip_serializing_if = "Settlement::is_default")]
    pub settlement: Settlement,
    /// When its units become available. Without it all of them are available at the opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rain: Option<Rain>,
    /// Who may buy before everyone else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early_access: Vec<EarlyAccess>,
    /// The line in front of its gate. Without it everybody comes at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<LineTerms>,
    /// How many people operators expect. Not shown to buyers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Invalid terms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTerms {
    /// The title is empty or too long, or has control characters.
    #[error("title must have 1 to {MAX_TITLE_LENGTH} characters and no control characters")]
    Title,
    /// The window is empty, reversed or too long.
    #[error("closes_at must be after opens_at and at most {} days later", MAX_SALE_DURATION_S / 86_400)]
    Window,
    /// No units or too many.
    #[error("total must be 1 to {MAX_TOTAL}")]
    Total,
    /// Limit out of range.
    #[error("per_user_limit must be 1 to {MAX_PER_USER_LIMIT}")]
    PerUserLimit,
    /// Price out of range.
    #[error("price_minor must be 0 to {MAX_PRICE_MINOR}")]
    Price,
    /// Payment window out of range.
    #[error("payment_window_s must be {MIN_PAYMENT_WINDOW_S} to {MAX_PAYMENT_WINDOW_S}")]
    PaymentWindow,
    /// The goods are invalid.
    #[error(transparent)]
    Goods(#[from] InvalidGoods),
    /// The audience is out of range.
    #[error("expected_audience must be 1 to {MAX_EXPECTED_AUDIENCE}")]
    ExpectedAudience,
    /// The number of lanes is out of range.
    #[error("lanes must be 1 to {MAX_LANES}")]
    Lanes,
    /// A term that requires a single lane.
    #[error("lanes must be 1 for a sale with {0}")]
    OneLaneOnly(&'static str),
    /// The door is invalid.
    #[error(transparent)]
    Door(#[from] InvalidDoor),
    /// The gate is invalid.
    #[error(transparent)]
    Gate(#[from] InvalidGate),
    /// The allocation or the settlement is invalid.
    #[error(transparent)]
    Allocation(#[from] InvalidAllocation),
    /// The plan of drops is invalid.
    #[error(transparent)]
    Rain(#[from] InvalidRain),
    /// The line is invalid.
    #[error(transparent)]
    Line(#[from] InvalidLine),
    /// Early access is invalid.
    #[error(transparent)]
    EarlyAccess(#[from] InvalidEarlyAccess),
}

impl Terms {
    /// The contents of the table of a round's awards. `None` if all of its units are the same.
    pub fn plan(&self) -> Option<award::Plan> {
        self.allocation.plan(self.total)
    }

    /// Checks all bounds.
    ///
    /// # Errors
    /// The first violated bound.
    pub fn validate(&self) -> Result<(), InvalidTerms> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// All violated bounds; of the door, the allocation, the rain and early access only the first one each.
    pub fn problems(&self) -> Vec<InvalidTerms> {
        let longest_ms = u64::from(MAX_SALE_DURATION_S) * 1000;
        let title_length = self.title.chars().count();
        let is_title = (1..=MAX_TITLE_LENGTH).contains(&title_length) && !self.title.chars().any(char::is_control);
        let is_window = (1..=longest_ms).contains(&self.closes_at_ms.since_ms(self.opens_at_ms));
        let is_audience = |people| (1..=MAX_EXPECTED_AUDIENCE).contains(&people);
        let bounds = [
            (is_title, InvalidTerms::Title),
            (is_window && self.opens_at_ms.0 >= 0, InvalidTerms::Window),
            ((1..=MAX_TOTAL).contains(&self.total), InvalidTerms::Total),
            ((1..=MAX_PER_USER_LIMIT).contains(&self.per_user_limit), InvalidTerms::PerUserLimit),
            (self.price.price_minor <= MAX_PRICE_MINOR, InvalidTerms::Price),
            (
                (MIN_PAYMENT_WINDOW_S..=MAX_PAYMENT_WINDOW_S).contains(&self.payment_window_s),
                InvalidTerms::PaymentWindow,
            ),
            (self.expected_audience.is_none_or(is_audience), InvalidTerms::ExpectedAudience),
            ((1..=MAX_LANES).contains(&self.lanes), InvalidTerms::Lanes),
        ];
        let mut problems: Vec<InvalidTerms> =
            bounds.into_iter().filter(|(holds, _)| !holds).map(|(_, problem)| problem).collect();
        problems.extend(self.needs_one_lane().filter(|_| self.lanes > 1).map(InvalidTerms::OneLaneOnly));
        problems.extend(self.goods.validate(self.price.price_minor).err().map(Into::into));
        problems.extend(self.door.validate().err().map(Into::into));
        problems.extend(Allocation::validate(self).err().map(Into::into));
        problems.extend(self.validate_gate().err().map(Into::into));
        problems.extend(self.rain.as_ref().and_then(|rain| rain.validate(self.total).err()).map(Into::into));
        problems.extend(self.validate_line().err().map(Into::into));
        // Early access is relative to the window, so it is not checked if the window is wrong.
        if is_window {
            problems.extend(self.validate_early_access().err().map(Into::into));
        }
        problems
    }

    /// A term that requires a single lane, because it counts all units of a round in one place.
    fn needs_one_lane(&self) -> Option<&'static str> {
        if self.rain.is_some() {
            Some("rain")
        } else if self.early_access.iter().any(|group| group.quota.is_some()) {
            Some("a group's quota")
        } else if self.allocation.is_drawn_at_end() {
            Some("a draw at the end")
        } else {
            None
        }
    }
}

impl InvalidTerms {
    /// The wrong field, by its name in the API.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Window => "closes_at",
            Self::Total | Self::Allocation(InvalidAllocation::Total) => "total",
            Self::PerUserLimit | Self::Allocation(InvalidAllocation::PerUserLimit) => "per_user_limit",
            Self::Price | Self::Allocation(InvalidAllocation::Price) => "price_minor",
            Self::PaymentWindow => "payment_window_s",
            Self::ExpectedAudience => "expected_audience",
            Self::Lanes | Self::OneLaneOnly(_) => "lanes",
            Self::Goods(InvalidGoods::Description) => "description",
            Self::Goods(InvalidGoods::Pictures) => "pictures",
            Self::Goods(InvalidGoods::ListPrice) => "list_price_minor",
            Self::Door(InvalidDoor::Strikes) => "door.strikes",
            Self::Door(InvalidDoor::StrikeWindow) => "door.strike_window_s",
            Self::Door(InvalidDoor::DeniedFor) => "door.denied_for_s",
            Self::Door(InvalidDoor::UnpaidLimit) => "door.unpaid_limit",
            Self::Door(InvalidDoor::PlannedRequests) => "door.planned_requests_per_s",
            Self::Allocation(InvalidAllocation::Settlement) => "settlement",
            Self::Allocation(InvalidAllocation::Amount) => "allocation.min_minor",
            Self::Allocation(InvalidAllocation::Prizes | InvalidAllocation::PrizeName) => "allocation.prizes",
            Self::Allocation(InvalidAllocation::Beacon | InvalidAllocation::RecurringBeacon) => "allocation.beacon",
            Self::Gate(InvalidGate::WorkBits) => "gate.work_bits",
            Self::Gate(_) => "gate",
            Self::Rain(_) => "rain",
            Self::Line(InvalidLine::OpensEarly) => "line.opens_early_s",
            Self::Line(InvalidLine::AdmitsPerS) => "line.admits_per_s",
            Self::Line(_) => "line",
            Self::EarlyAccess(_) => "early_access",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberQuota;

    fn terms() -> Terms {
        lamp(EpochMs(1_000_000), EpochMs(2_000_000))
    }

    fn verdict(change: impl FnOnce(&mut Terms)) -> Result<(), InvalidTerms> {
        let mut terms = terms();
        change(&mut terms);
        terms.validate()
    }

    #[test]
    fn bounds_are_inclusive() {
        let day_ms = 86_400_000;
        assert_eq!(terms().validate(), Ok(()));
        assert_eq!(verdict(|t| t.total = MAX_TOTAL), Ok(()));
        assert_eq!(verdict(|t| t.lanes = MAX_LANES), Ok(()));
        assert_eq!(verdict(|t| t.per_user_limit = MAX_PER_USER_LIMIT), Ok(()));
        assert_eq!(verdict(|t| t.payment_window_s = MAX_PAYMENT_WINDOW_S), Ok(()));
        assert_eq!(verdict(|t| t.payment_window_s = MIN_PAYMENT_WINDOW_S), Ok(()));
        assert_eq!(verdict(|t| t.price.price_minor = 0), Ok(()));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(1_000_000 + 31 * day_ms)), Ok(()));
        assert_eq!(verdict(|t| t.title = "ü".repeat(MAX_TITLE_LENGTH)), Ok(()));
    }

    #[test]
    fn each_bound_that_does_not_hold_is_told_with_its_field() {
        let mut terms = terms();
        terms.title.clear();
        terms.closes_at_ms = terms.opens_at_ms;
        terms.total = 0;
        terms.door.strikes = 0;
        let fields: Vec<&str> = terms.problems().iter().map(InvalidTerms::field).collect();
        assert_eq!(fields, ["title", "closes_at", "total", "door.strikes"]);
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        let day_ms = 86_400_000;
        assert_eq!(verdict(|t| t.title.clear()), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.title = "a\nb".into()), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.title = "x".repeat(MAX_TITLE_LENGTH + 1)), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.closes_at_ms = t.opens_at_ms), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(0)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(1_000_001 + 31 * day_ms)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.opens_at_ms = EpochMs(-1)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.total = 0), Err(InvalidTerms::Total));
        assert_eq!(verdict(|t| t.total = MAX_TOTAL + 1), Err(InvalidTerms::Total));
        assert_eq!(verdict(|t| t.per_user_limit = 0), Err(InvalidTerms::PerUserLimit));
        assert_eq!(verdict(|t| t.per_user_limit = MAX_PER_USER_LIMIT + 1), Err(InvalidTerms::PerUserLimit));
        assert_eq!(verdict(|t| t.price.price_minor = MAX_PRICE_MINOR + 1), Err(InvalidTerms::Price));
        assert_eq!(verdict(|t| t.payment_window_s = MIN_PAYMENT_WINDOW_S - 1), Err(InvalidTerms::PaymentWindow));
        assert_eq!(verdict(|t| t.payment_window_s = MAX_PAYMENT_WINDOW_S + 1), Err(InvalidTerms::PaymentWindow));
        assert_eq!(verdict(|t| t.expected_audience = Some(0)), Err(InvalidTerms::ExpectedAudience));
        assert_eq!(
            verdict(|t| t.expected_audience = Some(MAX_EXPECTED_AUDIENCE + 1)),
            Err(InvalidTerms::ExpectedAudience)
        );
        assert_eq!(verdict(|t| t.goods.list_price_minor = Some(1)), Err(InvalidTerms::Goods(InvalidGoods::ListPrice)));
        for lanes in [0, MAX_LANES + 1] {
            assert_eq!(verdict(|t| t.lanes = lanes), Err(InvalidTerms::Lanes));
        }
        assert_eq!(verdict(|t| t.door.strikes = 0), Err(InvalidTerms::Door(InvalidDoor::Strikes)));
    }

    #[test]
    fn what_counts_all_units_in_one_place_has_one_lane() {
        let rain = |t: &mut Terms| t.rain = Some(Rain { at_once: t.total, ..Rain::default() });
        let quota = |t: &mut Terms| {
            let quota = Some(MemberQuota { units: 1, for_s: 60 });
            t.early_access = vec![EarlyAccess { group: "members".parse().unwrap(), lead_s: 60, quota }];
        };
        let only = |what| Err(InvalidTerms::OneLaneOnly(what));
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
    fn one_lane_is_not_written() {
        let text = |lanes| serde_json::to_value(Terms { lanes, ..terms() }).unwrap();
        assert_eq!((text(1).get("lanes"), text(8)["lanes"].as_u64()), (None, Some(8)));
        for lanes in [1, 8] {
            assert_eq!(serde_json::from_value::<Terms>(text(lanes)).unwrap().lanes, lanes);
        }
    }
}
