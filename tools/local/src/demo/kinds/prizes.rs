use ::sale::{Allocation, Award, DrawTime, Prize};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::draw::{Given, by_arrival, mean, tenths};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;

/// One in this many tickets wins each of these, besides the first prize.
const SECOND_PRIZE_ONE_OF: u32 = 20;
const THIRD_PRIZE_ONE_OF: u32 = 10;

/// Tickets that win at once or not. A ticket is final, and nobody pays.
pub(in crate::demo) struct Prizes;

impl Staged for Prizes {
    fn offer(plan: &Plan) -> NewSale {
        let prizes = prizes_for(plan.units);
        let allocation = Allocation::Prizes { prizes, draw: DrawTime::Instant, beacon: false };
        plan.sale("tickets").titled("Prize draw").free(allocation)
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        counted(&Given::read(found).await?)
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

fn counted(given: &Given) -> Result<Figures> {
    let Given { allocation: Allocation::Prizes { prizes, .. }, awarded, grabbed, untaken, draw, .. } = given else {
        bail!("the round has no prizes")
    };
    let named = (1..).zip(prizes).map(|(prize, Prize { name, .. })| (name.as_str(), Award::Prize { prize }));
    let blanks = awarded.blanks.as_ref().context("the audit counts no blanks")?;
    let tallied = named.zip(&awarded.prizes).chain([(("blank", Award::Blank), blanks)]);

    let tickets = grabbed.len() + untaken.len();
    let mut figures = Figures::new(draw.is_right());
    figures.row("granted", format!("{} of {tickets} tickets", draw.granted));
    figures.gap();
    figures.row("prizes", format!("{:>7} {:>9} {:>9}", "count", "won", "unclaimed"));
    let mut counted: Vec<Value> = Vec::new();
    for ((name, award), tally) in tallied {
        // From the orders alone, and from the table alone.
        let (count, won) = (tally.total, tally.awarded);
        let unclaimed = i64::try_from(untaken.iter().filter(|each| **each == award).count())?;
        let is_right = won + unclaimed == count;
        figures.is_right &= is_right;
        let verdict = if is_right { "" } else { "  WRONG" };
        figures.row(&format!("  {name}"), format!("{count:>7} {won:>9} {unclaimed:>9}{verdict}"));
        counted.push(json!({ "name": name, "count": count, "won": won, "unclaimed": unclaimed }));
    }
    // The fraction of each tenth of the tickets, in order, that won a prize.
    let share = |group: &[Award]| mean(group.iter().map(|award| f64::from(*award != Award::Blank)));
    let won_by_arrival: Vec<f64> = tenths(grabbed).map(share).collect();
    figures.facts(json!({ "tickets": tickets, "blanks": counted.pop(), "prizes": counted }));
    figures.facts(json!({ "won_by_arrival": won_by_arrival }));
    figures.gap();
    draw.show(&mut figures);
    figures.gap();
    figures.row("winners by order of arrival", "");
    by_arrival(&mut figures, &won_by_arrival);
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::draw::tests::{given, prizes as allocation};

    fn drawn(taken: u32, change: impl FnOnce(&mut Vec<::sale::Order>)) -> Figures {
        counted(&given(allocation(), taken, change)).unwrap()
    }

    #[test]
    fn each_prize_is_won_or_unclaimed() {
        for taken in [0, 1, 9, 10] {
            let Figures { facts, is_right, .. } = drawn(taken, |_| {});
            assert!(is_right, "{facts:?}");
            let all = || facts["prizes"].as_array().unwrap().iter().chain([&facts["blanks"]]);
            let of = |key: &str| all().map(|counted| counted[key].as_i64().unwrap()).collect::<Vec<_>>();
            assert_eq!((of("count"), of("unclaimed").iter().sum::<i64>()), (vec![1, 2, 7], 10 - i64::from(taken)));
        }
    }

    #[test]
    fn a_prize_twice_is_wrong() {
        let drawn = drawn(10, |orders| {
            let blank = orders.iter_mut().find(|order| order.award == Some(Award::Blank)).unwrap();
            blank.award = Some(Award::Prize { prize: 1 });
        });
        assert!(!drawn.is_right && drawn.text.contains("WRONG"), "{drawn:?}");
    }
}
