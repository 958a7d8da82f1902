use std::fmt;

use ::sale::{Allocation, Award, Parts};
use anyhow::{Result, bail};
use serde::Serialize;

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::draw::{Draw, Given, bar, mean, tenths};
use crate::demo::plan::Plan;
use crate::demo::text::row;

/// The average and the smallest amount of a part, in minor units.
const MEAN_MINOR: u64 = 100;
const MIN_MINOR: u64 = 1;

/// An amount in random parts. A grab is final, and nobody pays.
#[derive(Debug, Serialize)]
pub(in crate::demo) struct RedPacket {
    parts: u32,
    currency: String,
    total_minor: u64,
    /// What orders have, from the orders alone.
    awarded_minor: u64,
    /// What the parts that nobody took would have been worth, from the table alone.
    unclaimed_minor: u64,
    unclaimed_parts: usize,
    /// Among the parts that were taken.
    smallest_minor: Option<u64>,
    median_minor: Option<u64>,
    largest_minor: Option<u64>,
    /// Tenths of the grabs, in order.
    by_arrival: Vec<Group>,
    #[serde(flatten)]
    draw: Draw,
}

#[derive(Debug, Serialize)]
struct Group {
    grabs: usize,
    mean_minor: f64,
    /// The standard error of a mean of this many grabs.
    by_chance_minor: f64,
}

impl Staged for RedPacket {
    fn offer(plan: &Plan) -> NewSale {
        let total_minor = u64::from(plan.units) * MEAN_MINOR;
        let split = Allocation::Split { total_minor, min_minor: MIN_MINOR, parts: Parts::Drawn, beacon: false };
        plan.sale("packet").titled("Red packet").free(split)
    }

    async fn of(found: &Found<'_>) -> Result<Self> {
        Self::counted(Given::read(found).await?)
    }

    fn is_right(&self) -> bool {
        let all = self.awarded_minor.checked_add(self.unclaimed_minor);
        self.draw.is_right() && all == Some(self.total_minor)
    }
}

impl RedPacket {
    fn counted(given: Given) -> Result<Self> {
        let Given { allocation: Allocation::Split { total_minor, .. }, currency, grabbed, untaken, draw, .. } = given
        else {
            bail!("the round has no parts of an amount")
        };
        let amounts = |awards: &[Award]| -> Vec<u64> {
            let amount = |award: &Award| match award {
                Award::Amount { amount_minor } => Some(*amount_minor),
                Award::Prize { .. } | Award::Blank => None,
            };
            awards.iter().filter_map(amount).collect()
        };
        let (grabbed, untaken) = (amounts(&grabbed), amounts(&untaken));
        let mut sorted = grabbed.clone();
        sorted.sort_unstable();
        Ok(Self {
            parts: u32::try_from(grabbed.len() + untaken.len())?,
            currency,
            total_minor,
            awarded_minor: grabbed.iter().sum(),
            unclaimed_minor: untaken.iter().sum(),
            unclaimed_parts: untaken.len(),
            smallest_minor: sorted.first().copied(),
            median_minor: sorted.get(sorted.len() / 2).copied(),
            largest_minor: sorted.last().copied(),
            by_arrival: by_arrival(&grabbed),
            draw,
        })
    }

    fn money(&self, minor: u64) -> String {
        format!("{}.{:02} {}", minor / 100, minor % 100, self.currency)
    }
}

fn by_arrival(grabbed: &[u64]) -> Vec<Group> {
    let mean_of = |amounts: &[u64]| mean(amounts.iter().map(|minor| *minor as f64));
    let of_all = if grabbed.is_empty() { 0.0 } else { mean_of(grabbed) };
    let squares: f64 = grabbed.iter().map(|minor| (*minor as f64 - of_all).powi(2)).sum();
    let deviation = (squares / grabbed.len().max(1) as f64).sqrt();
    let group = |amounts: &[u64]| Group {
        grabs: amounts.len(),
        mean_minor: mean_of(amounts),
        by_chance_minor: deviation / (amounts.len() as f64).sqrt(),
    };
    tenths(grabbed).map(group).collect()
}

impl fmt::Display for RedPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parts, unclaimed_parts, total_minor, awarded_minor, unclaimed_minor, .. } = self;
        let taken = self.draw.granted;
        row!(f, "granted", "{taken} of {parts} parts")?;
        row!(f, "total", self.money(*total_minor))?;
        row!(f, "  awarded, by the orders", self.money(*awarded_minor))?;
        let unclaimed = self.money(*unclaimed_minor);
        row!(f, "  unclaimed, by the table", "{unclaimed} in {unclaimed_parts} parts")?;
        let sum = awarded_minor.saturating_add(*unclaimed_minor);
        let verdict = if sum == *total_minor { "the total" } else { "NOT THE TOTAL" };
        row!(f, "  both", "{}, {verdict}", self.money(sum))?;
        let sizes = [self.smallest_minor, self.median_minor, self.largest_minor];
        let [smallest, median, largest] = sizes.map(|minor| minor.map_or_else(|| "none".to_owned(), |m| self.money(m)));
        row!(f, "smallest, median, largest", "{smallest}, {median}, {largest}")?;
        row!(f)?;
        write!(f, "{}", self.draw)?;
        row!(f)?;
        row!(f, "mean by order of arrival", "± the standard error of so few grabs")?;
        let most = self.by_arrival.iter().map(|group| group.mean_minor).fold(0.0, f64::max);
        for (tenth, Group { grabs, mean_minor, by_chance_minor }) in (1..).zip(&self.by_arrival) {
            let (mean, chance) = (mean_minor / 100.0, by_chance_minor / 100.0);
            let bar = bar(mean_minor / most);
            row!(f, format!("  {tenth}. tenth, {grabs} grabs"), "{mean:>6.2} ± {chance:.2}  {bar}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::draw::tests::{given, split};

    fn packet(taken: u32, change: impl FnOnce(&mut Vec<::sale::Order>)) -> RedPacket {
        RedPacket::counted(given(split(), taken, change)).unwrap()
    }

    #[test]
    fn what_is_awarded_and_unclaimed_is_the_total() {
        for taken in [0, 1, 9, 10] {
            let packet = packet(taken, |_| {});
            assert!(packet.is_right(), "{packet:?}");
            assert_eq!((packet.unclaimed_minor == 0, packet.unclaimed_parts), (taken == 10, 10 - taken as usize));
            assert!(packet.to_string().contains("10.00 EUR, the total"), "{packet}");
        }
    }

    #[test]
    fn a_cent_too_many_is_wrong() {
        for taken in [3, 10] {
            let packet = packet(taken, |orders| {
                let Some(Award::Amount { amount_minor }) = &mut orders[1].award else { panic!("no amount") };
                *amount_minor += 1;
            });
            assert!(!packet.is_right() && packet.to_string().contains("10.01 EUR, NOT THE TOTAL"), "{packet}");
        }
    }

    #[test]
    fn means_go_by_arrival() {
        let groups = by_arrival(&(1..=20).collect::<Vec<_>>());
        let means: Vec<f64> = groups.iter().map(|group| group.mean_minor).collect();
        assert_eq!((means[0], means[9], means.len()), (1.5, 19.5, 10));
        assert!(by_arrival(&[]).is_empty());
    }
}
