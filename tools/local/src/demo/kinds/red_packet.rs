use ::sale::{Allocation, Award, Parts};
use anyhow::{Result, bail};
use serde_json::json;

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::draw::{Given, bar, mean, tenths};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;

/// The average and the smallest amount of a part, in minor units.
const MEAN_MINOR: u64 = 100;
const MIN_MINOR: u64 = 1;

/// An amount in random parts. A grab is final, and nobody pays.
pub(in crate::demo) struct RedPacket;

impl Staged for RedPacket {
    fn offer(plan: &Plan) -> NewSale {
        let total_minor = u64::from(plan.units) * MEAN_MINOR;
        let split = Allocation::Split { total_minor, min_minor: MIN_MINOR, parts: Parts::Drawn, beacon: false };
        plan.sale("packet").titled("Red packet").free(split)
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        counted(&Given::read(found).await?)
    }
}

fn counted(given: &Given) -> Result<Figures> {
    let Given { allocation: Allocation::Split { total_minor, .. }, currency, draw, .. } = given else {
        bail!("the round has no parts of an amount")
    };
    let amounts = |awards: &[Award]| -> Vec<u64> {
        let amount = |award: &Award| match award {
            Award::Amount { amount_minor } => Some(*amount_minor),
            Award::Prize { .. } | Award::Blank => None,
        };
        awards.iter().filter_map(amount).collect()
    };
    // What orders have, from the orders alone, and what nobody took, from the table alone.
    let (grabbed, untaken) = (amounts(&given.grabbed), amounts(&given.untaken));
    let [awarded, unclaimed] = [&grabbed, &untaken].map(|amounts| amounts.iter().sum::<u64>());
    let (parts, sum) = (grabbed.len() + untaken.len(), awarded.saturating_add(unclaimed));
    let mut sorted = grabbed.clone();
    sorted.sort_unstable();
    let sizes = [sorted.first(), sorted.get(sorted.len() / 2), sorted.last()];
    let groups = by_arrival(&grabbed);

    let mut figures = Figures::new(draw.is_right() && sum == *total_minor);
    figures.facts(json!({
        "parts": parts, "currency": currency, "total_minor": total_minor, "awarded_minor": awarded,
        "unclaimed_minor": unclaimed, "unclaimed_parts": untaken.len(), "smallest_minor": sizes[0],
        "median_minor": sizes[1], "largest_minor": sizes[2],
        "by_arrival": groups.iter().map(|(grabs, mean, by_chance)| {
            json!({ "grabs": grabs, "mean_minor": mean, "by_chance_minor": by_chance })
        }).collect::<Vec<_>>(),
    }));
    let money = |minor: u64| format!("{}.{:02} {currency}", minor / 100, minor % 100);
    figures.row("granted", format!("{} of {parts} parts", draw.granted));
    figures.row("total", money(*total_minor));
    figures.row("  awarded, by the orders", money(awarded));
    figures.row("  unclaimed, by the table", format!("{} in {} parts", money(unclaimed), untaken.len()));
    let verdict = if sum == *total_minor { "the total" } else { "NOT THE TOTAL" };
    figures.row("  both", format!("{}, {verdict}", money(sum)));
    let sizes = sizes.map(|minor| minor.map_or_else(|| "none".to_owned(), |minor| money(*minor)));
    figures.row("smallest, median, largest", sizes.join(", "));
    figures.gap();
    draw.show(&mut figures);
    figures.gap();
    figures.row("mean by order of arrival", "± the standard error of so few grabs");
    let most = groups.iter().map(|(_, mean, _)| *mean).fold(0.0, f64::max);
    for (tenth, (grabs, mean, by_chance)) in (1..).zip(&groups) {
        let value = format!("{:>6.2} ± {:.2}  {}", mean / 100.0, by_chance / 100.0, bar(mean / most));
        figures.row(&format!("  {tenth}. tenth, {grabs} grabs"), value);
    }
    Ok(figures)
}

/// For each tenth of the grabs, in order: their number, their mean, and the standard error of a mean of so many.
fn by_arrival(grabbed: &[u64]) -> Vec<(usize, f64, f64)> {
    let mean_of = |amounts: &[u64]| mean(amounts.iter().map(|minor| *minor as f64));
    let of_all = if grabbed.is_empty() { 0.0 } else { mean_of(grabbed) };
    let squares: f64 = grabbed.iter().map(|minor| (*minor as f64 - of_all).powi(2)).sum();
    let deviation = (squares / grabbed.len().max(1) as f64).sqrt();
    tenths(grabbed).map(|of| (of.len(), mean_of(of), deviation / (of.len() as f64).sqrt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::draw::tests::{given, split};

    fn packet(taken: u32, change: impl FnOnce(&mut Vec<::sale::Order>)) -> Figures {
        counted(&given(split(), taken, change)).unwrap()
    }

    #[test]
    fn what_is_awarded_and_unclaimed_is_the_total() {
        for taken in [0, 1, 9, 10] {
            let packet = packet(taken, |_| {});
            assert!(packet.is_right && packet.text.contains("10.00 EUR, the total"), "{packet:?}");
            let [minor, parts] = ["unclaimed_minor", "unclaimed_parts"].map(|key| packet.facts[key].as_u64().unwrap());
            assert_eq!((minor == 0, parts), (taken == 10, 10 - u64::from(taken)));
        }
    }

    #[test]
    fn a_cent_too_many_is_wrong() {
        for taken in [3, 10] {
            let packet = packet(taken, |orders| {
                let Some(Award::Amount { amount_minor }) = &mut orders[1].award else { panic!("no amount") };
                *amount_minor += 1;
            });
            assert!(!packet.is_right && packet.text.contains("10.01 EUR, NOT THE TOTAL"), "{packet:?}");
        }
    }

    #[test]
    fn means_go_by_arrival() {
        let means: Vec<f64> = by_arrival(&(1..=20).collect::<Vec<_>>()).iter().map(|group| group.1).collect();
        assert_eq!((means[0], means[9], means.len()), (1.5, 19.5, 10));
        assert!(by_arrival(&[]).is_empty());
    }
}
