//! What everybody may know of a sale.

use serde::Serialize;

use crate::{EpochMs, Terms};

/// One in so many units left is few.
const FEW_LEFT_ONE_IN: u32 = 10;

/// Where a sale stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It has not opened.
    Upcoming,
    /// It can be bought from.
    Open,
    /// It could, if operators let it.
    Paused,
    /// It is over.
    Closed,
}

impl Phase {
    /// Where a sale of these terms stands at `now`. Redis's clock alone opens and closes it: this is for show.
    pub fn of(terms: &Terms, paused: bool, now: EpochMs) -> Self {
        if now >= terms.closes_at_ms {
            Self::Closed
        } else if now < terms.opens_at_ms {
            Self::Upcoming
        } else if paused {
            Self::Paused
        } else {
            Self::Open
        }
    }
}

/// How much is left, without a number: a number would tell competitors what is sold, and buyers what to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Plenty.
    Available,
    /// Not many.
    FewLeft,
    /// Nothing at this moment. A unit may come back.
    SoldOut,
    /// Nobody can tell now.
    Unknown,
}

impl Availability {
    /// Of a round of `total` units of which so many can be handed out.
    pub const fn of(free: u32, total: u32) -> Self {
        match free {
            0 => Self::SoldOut,
            _ if free <= total.div_ceil(FEW_LEFT_ONE_IN) => Self::FewLeft,
            _ => Self::Available,
        }
    }
}

#[cfg(test)]
mod tests {
    use Availability::{Available, FewLeft, SoldOut};

    use super::*;
    use crate::{DoorTerms, Price};

    #[test]
    fn availability_goes_in_steps() {
        for (total, free, availability) in [
            (1000, 1000, Available),
            (1000, 101, Available),
            (1000, 100, FewLeft),
            (1000, 1, FewLeft),
            (1000, 0, SoldOut),
            (15, 3, Available),
            (15, 2, FewLeft),
            (2, 2, Available),
            (2, 1, FewLeft),
            (1, 1, FewLeft),
            (1, 0, SoldOut),
            (u32::MAX, u32::MAX, Available),
        ] {
            assert_eq!(Availability::of(free, total), availability, "{free} of {total}");
        }
    }

    #[test]
    fn a_sale_opens_and_closes_at_its_moments() {
        let terms = Terms {
            title: "A lamp".into(),
            opens_at_ms: EpochMs(1_000),
            closes_at_ms: EpochMs(2_000),
            total: 100,
            per_user_limit: 1,
            price: Price { price_minor: 990, currency: "EUR".parse().unwrap() },
            payment_window_s: 900,
            door: DoorTerms::default(),
            allocation: crate::Allocation::default(),
            settlement: crate::Settlement::default(),
            early_access: Vec::new(),
        };
        for (now, paused, phase) in [
            (999, false, Phase::Upcoming),
            (999, true, Phase::Upcoming),
            (1_000, false, Phase::Open),
            (1_000, true, Phase::Paused),
            (1_999, false, Phase::Open),
            (2_000, false, Phase::Closed),
            (2_000, true, Phase::Closed),
        ] {
            assert_eq!(Phase::of(&terms, paused, EpochMs(now)), phase, "at {now}, paused: {paused}");
        }
    }
}
