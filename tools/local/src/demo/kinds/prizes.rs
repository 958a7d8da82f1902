use std::fmt;

use ::sale::audit::Tally;
use ::sale::{Allocation, Award, DrawTime, Prize};
use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::draw::{Draw, Given, by_arrival, mean, tenths};
use crate::demo::plan::Plan;
use crate::demo::text::row;

/// One in this many tickets wins each of these, besides the first prize.
const SECOND_PRIZE_ONE_OF: u32 = 20;
const THIRD_PRIZE_ONE_OF: u32 = 10;

/// Tickets that win at once or not. A ticket is final, and nobody pays.
#[derive(Debug, Serialize)]
pub(in crate::demo) struct Prizes {
    tickets: u32,
    prizes: Vec<Counted>,
    blanks: Counted,
    /// The fraction of each tenth of the tickets, in order, that won a prize.
    won_by_arrival: Vec<f64>,
    #[serde(flatten)]
    draw: Draw,
}

#[derive(Debug, Serialize)]
struct Counted {
    name: String,
    count: i64,
    /// How many orders have it, from the orders alone.
    won: i64,
    /// How many tickets that nobody took have it, from the table alone.
    unclaimed: i64,
}

impl Counted {
    fn of(name: &str, tally: &Tally, award: Award, untaken: &[Award]) -> Result<Self> {
        let unclaimed = i64::try_from(untaken.iter().filter(|each| **each == award).count())?;
        Ok(Self { name: name.to_owned(), count: tally.total, won: tally.awarded, unclaimed })
    }

    const fn is_right(&self) -> bool {
        self.won + self.unclaimed == self.count
    }
}

impl Staged for Prizes {
    fn offer(plan: &Plan) -> NewSale {
        plan.sale("tickets").titled("Prize draw").free(Allocation::Prizes {
            prizes: prizes_for(plan.units),
            draw: DrawTime::Instant,
            beacon: false,
        })
    }

    async fn of(found: &Found<'_>) -> Result<Self> {
        Self::counted(Given::read(found).await?)
    }

    fn is_right(&self) -> bool {
        self.draw.is_right() && self.prizes.iter().all(Counted::is_right) && self.blanks.is_right()
    }
}

/// As many of each prize.
pub(super) fn prizes(counts: [u32; 3]) -> Vec<Prize> {
    let prizes = ["Bentwood chair", "Enamel pendant lamp", "Whistling kettle"].into_iter().zip(counts);
    let prizes = prizes.filter(|(_, count)| *count > 0);
    prizes.map(|(name, count)| Prize { name: name.to_owned(), count }).collect()
}

/// The prizes for this many tickets: at least one, and never more than tickets.
fn prizes_for(tickets: u32) -> Vec<Prize> {
    prizes([1, tickets / SECOND_PRIZE_ONE_OF, tickets / THIRD_PRIZE_ONE_OF])
}

impl Prizes {
    fn counted(given: Given) -> Result<Self> {
        let Given { allocation: Allocation::Prizes { prizes, .. }, awarded, grabbed, untaken, draw, .. } = given else {
            bail!("the round has no prizes")
        };
        let prizes = (1..).zip(&prizes).zip(&awarded.prizes);
        let prizes = prizes
            .map(|((prize, Prize { name, .. }), tally)| Counted::of(name, tally, Award::Prize { prize }, &untaken));
        let blanks = awarded.blanks.as_ref().context("the audit counts no blanks")?;
        let share = |group: &[Award]| mean(group.iter().map(|award| f64::from(*award != Award::Blank)));
        Ok(Self {
            tickets: u32::try_from(grabbed.len() + untaken.len())?,
            prizes: prizes.collect::<Result<_>>()?,
            blanks: Counted::of("blank", blanks, Award::Blank, &untaken)?,
            won_by_arrival: tenths(&grabbed).map(share).collect(),
            draw,
        })
    }
}

impl fmt::Display for Prizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row!(f, "granted", "{} of {} tickets", self.draw.granted, self.tickets)?;
        row!(f)?;
        row!(f, "prizes", "{:>7} {:>9} {:>9}", "count", "won", "unclaimed")?;
        for counted in self.prizes.iter().chain([&self.blanks]) {
            let Counted { name, count, won, unclaimed } = counted;
            let verdict = if counted.is_right() { "" } else { "  WRONG" };
            row!(f, format!("  {name}"), "{count:>7} {won:>9} {unclaimed:>9}{verdict}")?;
        }
        row!(f)?;
        write!(f, "{}", self.draw)?;
        row!(f)?;
        row!(f, "winners by order of arrival", "")?;
        by_arrival(f, &self.won_by_arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::draw::tests::{given, prizes as allocation};

    fn drawn(taken: u32, change: impl FnOnce(&mut Vec<::sale::Order>)) -> Prizes {
        Prizes::counted(given(allocation(), taken, change)).unwrap()
    }

    #[test]
    fn each_prize_is_won_or_unclaimed() {
        for taken in [0, 1, 9, 10] {
            let drawn = drawn(taken, |_| {});
            assert!(drawn.is_right(), "{drawn:?}");
            let counts: Vec<i64> = drawn.prizes.iter().chain([&drawn.blanks]).map(|counted| counted.count).collect();
            assert_eq!(counts, [1, 2, 7]);
            let unclaimed: i64 = drawn.prizes.iter().chain([&drawn.blanks]).map(|counted| counted.unclaimed).sum();
            assert_eq!(unclaimed, 10 - i64::from(taken));
        }
    }

    #[test]
    fn a_prize_twice_is_wrong() {
        let drawn = drawn(10, |orders| {
            let blank = orders.iter_mut().find(|order| order.award == Some(Award::Blank)).unwrap();
            blank.award = Some(Award::Prize { prize: 1 });
        });
        assert!(!drawn.is_right() && drawn.to_string().contains("WRONG"), "{drawn}");
    }

    #[test]
    fn every_number_of_tickets_has_prizes_enough_and_not_too_many() {
        for tickets in [1, 2, 9, 10, 19, 20, 1_000, 10_000] {
            let prizes = prizes_for(tickets);
            let count: u32 = prizes.iter().map(|prize| prize.count).sum();
            assert!((1..=tickets).contains(&count) && prizes.iter().all(|prize| prize.count > 0), "{tickets}");
        }
    }
}
