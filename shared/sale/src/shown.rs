//! What the public sees of a sale, and what a user sees of an award.

use serde::Serialize;

use crate::{Allocation, Award, Currency, EpochMs, Order, OrderState, Prize, Terms};

/// One of this many units left counts as few.
const FEW_LEFT_ONE_IN: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Upcoming,
    Open,
    Paused,
    Closed,
}

impl Phase {
    /// The state of a sale with these terms at `now`. For display only: Redis's clock decides.
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

/// Roughly how much is left. A number would tell competitors what was sold, and buyers what to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    Available,
    FewLeft,
    /// Nothing at the moment. A unit may come back.
    SoldOut,
    Unknown,
}

impl Availability {
    /// The availability in a round of `total` units of which `free` can be handed out.
    pub const fn of(free: u32, total: u32) -> Self {
        match free {
            0 => Self::SoldOut,
            _ if free <= total.div_ceil(FEW_LEFT_ONE_IN) => Self::FewLeft,
            _ => Self::Available,
        }
    }
}

/// What a unit won, readable without the round's terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShownAward {
    Amount {
        amount_minor: u64,
        currency: Currency,
    },
    Prize {
        prize: String,
    },
    Blank,
    /// It takes part in a draw that is still to come.
    Entered,
}

impl ShownAward {
    /// Whether showing an order's award requires the terms of its round, which name the prizes and say whether an order
    /// without an award takes part in a draw.
    pub const fn needs_terms(order: &Order) -> bool {
        match order.award {
            Some(Award::Prize { .. }) => true,
            None => matches!(order.state, OrderState::Granted),
            _ => false,
        }
    }

    /// Whether an order's award depends on the draw of its round: it is an entry that has not won yet.
    pub const fn needs_draw(order: &Order, terms: &Terms) -> bool {
        order.award.is_none() && matches!(order.state, OrderState::Granted) && terms.allocation.is_drawn_at_end()
    }

    /// The award of an order, or `None` if it has none. `terms` are needed if [`needs_terms`](Self::needs_terms) says
    /// so; `is_drawn`, whether all winners are drawn, if [`needs_draw`](Self::needs_draw) does.
    pub fn of(order: &Order, terms: Option<&Terms>, is_drawn: bool) -> Option<Self> {
        if terms.is_some_and(|terms| Self::needs_draw(order, terms)) {
            return Some(if is_drawn { Self::Blank } else { Self::Entered });
        }
        match order.award? {
            Award::Amount { amount_minor } => {
                order.price.map(|price| Self::Amount { amount_minor, currency: price.currency })
            }
            Award::Prize { prize } => {
                let Allocation::Prizes { prizes, .. } = &terms?.allocation else { return None };
                let Prize { name, .. } = prizes.get(usize::from(prize).checked_sub(1)?)?;
                Some(Self::Prize { prize: name.clone() })
            }
            Award::Blank => Some(Self::Blank),
        }
    }
}

#[cfg(test)]
mod tests {
    use Availability::{Available, FewLeft, SoldOut};

    use super::*;
    use crate::terms::{lamp, packet};
    use crate::{DrawTime, Price};

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
        let terms = lamp(EpochMs(1_000), EpochMs(2_000));
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

    #[test]
    fn an_award_is_shown_in_words() {
        let id = "packet.1.0198f0b2a4c57d1e8f00aabbccddeeff";
        let reservation: crate::Reservation = serde_json::from_value(serde_json::json!({
            "id": id, "user": "alice", "lane": 0, "unit": 17, "slot": 0, "reserved_at_ms": 1
        }))
        .unwrap();
        let price = Price { price_minor: 0, currency: "EUR".parse().unwrap() };
        let granted = |award| Order::granted(reservation.clone(), price, EpochMs(2), award);
        let prize = |name: &str| Prize { name: name.into(), count: 1 };
        let prizes = vec![prize("A phone"), prize("A cup")];
        let terms = packet(Allocation::Prizes { prizes, draw: DrawTime::Instant, beacon: false });
        let amount = Some(Award::Amount { amount_minor: 137 });
        for (award, needs_terms, shown) in [
            (amount, false, r#"{"kind":"amount","amount_minor":137,"currency":"EUR"}"#),
            (Some(Award::Prize { prize: 2 }), true, r#"{"kind":"prize","prize":"A cup"}"#),
            (Some(Award::Prize { prize: 0 }), true, "null"),
            (Some(Award::Prize { prize: 3 }), true, "null"),
            (Some(Award::Blank), false, r#"{"kind":"blank"}"#),
            (None, true, "null"),
        ] {
            let order = granted(award);
            assert_eq!(ShownAward::needs_terms(&order), needs_terms, "{award:?}");
            let shown_award = ShownAward::of(&order, needs_terms.then_some(&terms), true);
            assert_eq!(serde_json::to_string(&shown_award).unwrap(), shown, "{award:?}");
        }
        let Allocation::Prizes { prizes, .. } = terms.allocation.clone() else { unreachable!() };
        let at_end = Terms { allocation: Allocation::Prizes { prizes, draw: DrawTime::AtEnd, beacon: false }, ..terms };
        let shown =
            |order: &Order, is_drawn| serde_json::to_string(&ShownAward::of(order, Some(&at_end), is_drawn)).unwrap();
        let entry = granted(None);
        assert!(ShownAward::needs_draw(&entry, &at_end));
        assert_eq!([false, true].map(|drawn| shown(&entry, drawn)), [r#"{"kind":"entered"}"#, r#"{"kind":"blank"}"#]);
        let winner = granted(Some(Award::Prize { prize: 1 }));
        assert_eq!([false, true].map(|drawn| shown(&winner, drawn)), [r#"{"kind":"prize","prize":"A phone"}"#; 2]);
        let late = Order::failed(reservation, crate::Failure::EntriesClosed, EpochMs(2));
        assert_eq!((ShownAward::needs_terms(&late), shown(&late, true)), (false, "null".to_owned()));
    }
}
