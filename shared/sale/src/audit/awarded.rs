use serde::{Deserialize, Serialize};

use crate::{Allocation, Award, Order, Terms};

/// What the live orders of a round won, and what is left. Counted from the orders alone. What is awarded and what is
/// unclaimed always add up to the total; unclaimed is below 0 if the orders have more than that.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awarded {
    pub orders: u32,
    /// Live orders without an award, or with one that no unit of the round can have.
    pub contradictions: u32,
    /// The money, in minor units of the currency of the round's price, if units are parts of an amount.
    pub amount: Option<Tally>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prizes: Vec<Tally>,
    pub blanks: Option<Tally>,
    /// Entries that the draw has counted, if the winners are drawn at the end and it has closed.
    pub entries: Option<u32>,
    /// Whether every prize that can be won must have a winner.
    #[serde(skip)]
    is_drawn: bool,
    /// Whether orders are entries, which have no award until they win.
    #[serde(skip)]
    at_end: bool,
    #[serde(skip)]
    units: u32,
    #[serde(skip)]
    min_minor: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub total: i64,
    pub awarded: i64,
    pub unclaimed: i64,
}

impl Tally {
    fn of(total: u64) -> Self {
        let total = i64::try_from(total).unwrap_or(i64::MAX);
        Self { total, awarded: 0, unclaimed: total }
    }

    fn award(&mut self, much: u64) {
        self.awarded = self.awarded.saturating_add(i64::try_from(much).unwrap_or(i64::MAX));
        self.unclaimed = self.total.saturating_sub(self.awarded);
    }
}

impl Awarded {
    /// The tally of a round with these terms before its first order. `None` if it has no awards.
    pub fn nothing(terms: &Terms) -> Option<Self> {
        let at_end = terms.allocation.is_drawn_at_end();
        let nothing = Self { at_end, units: terms.total, ..Self::default() };
        match &terms.allocation {
            Allocation::Units => None,
            Allocation::Split { total_minor, min_minor, .. } => {
                Some(Self { amount: Some(Tally::of(*total_minor)), min_minor: *min_minor, ..nothing })
            }
            Allocation::Prizes { prizes, .. } => {
                let prizes: Vec<Tally> = prizes.iter().map(|prize| Tally::of(prize.count.into())).collect();
                let winning: i64 = prizes.iter().map(|prize| prize.total).sum();
                let blanks = u64::try_from(i64::from(terms.total) - winning).unwrap_or(0);
                let blanks = (!at_end).then(|| Tally::of(blanks));
                Some(Self { prizes, blanks, ..nothing })
            }
        }
    }

    /// Sets what the draw at the end has counted, and whether all its winners have their prizes.
    pub const fn note_draw(&mut self, entries: u32, is_drawn: bool) {
        (self.entries, self.is_drawn) = (Some(entries), is_drawn);
    }

    pub fn add(&mut self, order: &Order) {
        if !order.state.is_live() {
            return;
        }
        self.orders += 1;
        let min_minor = self.min_minor;
        let (tally, much) = match order.award {
            Some(Award::Amount { amount_minor }) => {
                (self.amount.as_mut().filter(|_| amount_minor >= min_minor), amount_minor)
            }
            Some(Award::Prize { prize }) => {
                (usize::from(prize).checked_sub(1).and_then(|prize| self.prizes.get_mut(prize)), 1)
            }
            Some(Award::Blank) => (self.blanks.as_mut(), 1),
            // An entry.
            None if self.at_end => return,
            None => (None, 0),
        };
        match tally {
            Some(tally) => tally.award(much),
            None => self.contradictions += 1,
        }
    }

    pub fn is_exact(&self) -> bool {
        if self.at_end {
            return self.is_exact_at_end();
        }
        let left = i64::from(self.units) - i64::from(self.orders);
        let least = left.saturating_mul(i64::try_from(self.min_minor).unwrap_or(i64::MAX));
        let enough = |amount: &Tally| if left == 0 { amount.unclaimed == 0 } else { amount.unclaimed >= least };
        let tickets: Vec<&Tally> = self.prizes.iter().chain(&self.blanks).collect();
        let tickets_left: i64 = tickets.iter().map(|tally| tally.unclaimed).sum();
        self.contradictions == 0
            && left >= 0
            && self.amount.as_ref().is_none_or(enough)
            && tickets.iter().all(|tally| tally.unclaimed >= 0)
            && (tickets.is_empty() || tickets_left == left)
    }

    /// Whether nothing was won before the draw, nothing twice, and, once the draw is done, every prize that there is an
    /// entry for. The first prizes are drawn first.
    fn is_exact_at_end(&self) -> bool {
        let entries = self.entries.unwrap_or(0);
        let mut left = i64::from(entries);
        let each_is_right = self.prizes.iter().all(|tally| {
            let to_win = tally.total.min(left);
            left -= to_win;
            if self.is_drawn { tally.awarded == to_win } else { tally.awarded <= to_win }
        });
        self.contradictions == 0
            && self.orders <= self.units
            && self.entries.is_none_or(|entries| entries == self.orders)
            && each_is_right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::packet;
    use crate::{DrawTime, EpochMs, Lane, Parts, Price, Prize, Reservation, Slot, Unit};

    fn terms(total: u32, allocation: Allocation) -> Terms {
        Terms { total, ..packet(allocation) }
    }

    fn won(unit: u32, award: Option<Award>) -> Order {
        let id = format!("packet.1.0198f0b2a4c57d1e8f00aabb{unit:08x}").parse().unwrap();
        let (user, lane, unit) = ("alice".parse().unwrap(), Lane::default(), Unit(unit));
        let reservation = Reservation { id, user, lane, unit, slot: Slot(0), reserved_at_ms: EpochMs(1) };
        Order::granted(reservation, Price { price_minor: 0, currency: "EUR".parse().unwrap() }, EpochMs(1), award)
    }

    fn counted(terms: &Terms, awards: &[Option<Award>]) -> Awarded {
        let mut awarded = Awarded::nothing(terms).unwrap();
        (1..).zip(awards).for_each(|(unit, award)| awarded.add(&won(unit, *award)));
        for tally in awarded.amount.iter().chain(&awarded.prizes).chain(&awarded.blanks) {
            assert_eq!(tally.awarded + tally.unclaimed, tally.total, "{awarded:?}");
        }
        awarded
    }

    #[test]
    fn money_adds_up_to_the_cent() {
        let terms = terms(3, Allocation::Split { total_minor: 100, min_minor: 5, parts: Parts::Drawn, beacon: false });
        let amount = |amount_minor| Some(Award::Amount { amount_minor });
        let tally = |awards: &[Option<Award>]| {
            let awarded = counted(&terms, awards);
            (awarded.amount.unwrap().unclaimed, awarded.is_exact())
        };
        assert_eq!(tally(&[]), (100, true));
        assert_eq!(tally(&[amount(20), amount(75)]), (5, true));
        assert_eq!(tally(&[amount(20), amount(76)]), (4, false), "too little for the last one");
        assert_eq!(tally(&[amount(20), amount(75), amount(5)]), (0, true));
        assert_eq!(tally(&[amount(20), amount(74), amount(5)]), (1, false), "a cent is nobody's");
        assert_eq!(tally(&[amount(20), amount(75), amount(6)]), (-1, false));
        assert_eq!(tally(&[amount(20), amount(70), amount(5), amount(5)]), (0, false), "a unit too many");
        for wrong in [None, amount(4), Some(Award::Blank), Some(Award::Prize { prize: 1 })] {
            let awarded = counted(&terms, &[amount(20), wrong]);
            assert_eq!((awarded.contradictions, awarded.is_exact()), (1, false), "{wrong:?}");
        }
    }

    #[test]
    fn prizes_are_counted_by_kind() {
        let prizes = [("A phone", 1), ("A cup", 2)].map(|(name, count)| Prize { name: name.to_owned(), count });
        let terms = terms(5, Allocation::Prizes { prizes: prizes.to_vec(), draw: DrawTime::Instant, beacon: false });
        let prize = |prize| Some(Award::Prize { prize });
        let blank = Some(Award::Blank);
        let awarded = counted(&terms, &[prize(2), blank, prize(1)]);
        assert_eq!(awarded.prizes.iter().map(|tally| tally.unclaimed).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((awarded.blanks.unwrap().unclaimed, awarded.amount, awarded.is_exact()), (1, None, true));
        assert!(counted(&terms, &[prize(2), blank, prize(1), blank, prize(2)]).is_exact());
        assert!(!counted(&terms, &[prize(1), prize(1)]).is_exact(), "a prize twice");
        assert!(!counted(&terms, &[blank, blank, blank]).is_exact());
        for wrong in [prize(0), prize(3), Some(Award::Amount { amount_minor: 1 })] {
            assert_eq!(counted(&terms, &[wrong]).contradictions, 1, "{wrong:?}");
        }
    }

    #[test]
    fn a_draw_at_the_end_gives_each_prize_once_it_is_done_and_none_before() {
        let prizes = [("A phone", 1), ("A cup", 2)].map(|(name, count)| Prize { name: name.to_owned(), count });
        let terms = terms(5, Allocation::Prizes { prizes: prizes.to_vec(), draw: DrawTime::AtEnd, beacon: false });
        let prize = |prize| Some(Award::Prize { prize });
        let exact = |awards: &[Option<Award>], draw: Option<(u32, bool)>| {
            let mut awarded = counted(&terms, awards);
            assert_eq!(awarded.blanks, None);
            if let Some((entries, is_drawn)) = draw {
                awarded.note_draw(entries, is_drawn);
            }
            awarded.is_exact()
        };
        assert!(exact(&[None, None], None));
        assert!(!exact(&[None, prize(1)], None), "before the draw");
        assert!(exact(&[None; 4], Some((4, false))) && !exact(&[None; 4], Some((4, true))));
        assert!(!exact(&[None; 3], Some((4, false))), "an entry is missing");
        assert!(!exact(&[None; 5], Some((4, false))), "an entry too many");
        assert!(exact(&[None, prize(1), None, prize(2)], Some((4, false))));
        assert!(!exact(&[None, prize(1), None, prize(2)], Some((4, true))), "a cup is missing");
        assert!(exact(&[prize(2), prize(1), None, prize(2)], Some((4, true))));
        assert!(!exact(&[prize(2), prize(1), prize(1), prize(2)], Some((4, false))), "a prize twice");
        assert!(exact(&[prize(1), prize(2)], Some((2, true))), "fewer entries than prizes");
        assert!(!exact(&[prize(2), prize(2)], Some((2, true))), "the first prize is drawn first");
        assert!(exact(&[], Some((0, true))));
        assert!(!exact(&[Some(Award::Blank)], Some((1, false))));
    }

    #[test]
    fn what_ended_won_nothing_and_plain_units_are_not_counted() {
        let split = terms(3, Allocation::Split { total_minor: 100, min_minor: 5, parts: Parts::Equal, beacon: false });
        let mut awarded = Awarded::nothing(&split).unwrap();
        awarded.add(&Order::failed(won(1, None).reservation, crate::Failure::SoldOut, EpochMs(1)));
        assert_eq!(awarded, Awarded::nothing(&split).unwrap());
        assert_eq!(Awarded::nothing(&terms(3, Allocation::Units)), None);
    }
}
