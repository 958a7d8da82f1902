//! Whether the time of arrival matters.

use pass::line::{Class, Place, Watermark};
use serde::Serialize;

use crate::people::Person;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Fairness {
    /// Spearman's correlation of arrival and place. Without correlation its standard deviation is 1/√n.
    pub correlation: f64,
    /// The same in standard deviations.
    pub correlation_sigmas: f64,
    /// Share of each tenth of the people, in the order of arrival, whose turn came.
    pub admitted_by_decile: [f64; 10],
    /// Each tenth's share of all early winners.
    pub winners_by_decile: [f64; 10],
    /// The largest deviation of a tenth's admitted from the mean, in standard deviations of a binomial distribution.
    pub decile_sigmas: f64,
    /// Latecomers who were overtaken by a person of a later second.
    pub passed_over: u32,
}

impl Fairness {
    pub fn of(people: &[Person], watermark: &Watermark) -> Self {
        let mut early: Vec<&Person> = people.iter().filter(|person| person.class == Some(Class::Early)).collect();
        early.sort_by_key(|person| person.arrives_ms);
        let correlation = spearman(&early.iter().map(|person| person.place).collect::<Vec<_>>());
        let count = early.len().max(1) as f64;
        let is_admitted = |person: &&&Person| watermark.admits(Class::Early, person.place);
        let admitted = early.iter().filter(is_admitted).count() as f64 / count;
        let winners = early.iter().filter(|person| person.won > 0).count().max(1) as f64;
        let (mut admitted_by_decile, mut winners_by_decile, mut decile_sigmas) = ([0.0; 10], [0.0; 10], 0.0_f64);
        for decile in 0..10 {
            let tenth = &early[early.len() * decile / 10..early.len() * (decile + 1) / 10];
            let size = tenth.len().max(1) as f64;
            let share = tenth.iter().filter(is_admitted).count() as f64 / size;
            admitted_by_decile[decile] = share;
            winners_by_decile[decile] = tenth.iter().filter(|person| person.won > 0).count() as f64 / winners;
            let sigma = (admitted * (1.0 - admitted) / size).sqrt();
            if sigma > 0.0 {
                decile_sigmas = decile_sigmas.max((share - admitted).abs() / sigma);
            }
        }
        Self {
            correlation,
            correlation_sigmas: correlation * count.sqrt(),
            admitted_by_decile,
            winners_by_decile,
            decile_sigmas,
            passed_over: passed_over(people, watermark),
        }
    }
}

fn passed_over(people: &[Person], watermark: &Watermark) -> u32 {
    let late = || {
        people.iter().filter_map(|person| match person.class {
            Some(Class::Late(second)) => Some((second, watermark.admits(Class::Late(second), person.place))),
            _ => None,
        })
    };
    let last = late().filter(|(_, admitted)| *admitted).map(|(second, _)| second).max().unwrap_or(0);
    late().filter(|(second, admitted)| !admitted && *second < last).count() as u32
}

/// Spearman's rank correlation between the order of this list and its places.
pub fn spearman(places: &[Place]) -> f64 {
    let n = places.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mut by_place: Vec<u32> = (0..places.len() as u32).collect();
    by_place.sort_unstable_by_key(|index| places[*index as usize]);
    let squares: f64 = by_place.iter().enumerate().map(|(rank, index)| (rank as f64 - f64::from(*index)).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}
