//! Checks a round with awards against the seed in the ledger.

use std::collections::HashSet;

use anyhow::{Context, Result};
use sale::audit::Awarded;
use sale::award::{self, Seed, Table};
use sale::{Allocation, Award, EpochMs, Order, OrderState, Round};
use serde::Serialize;
use serde_json::json;

use crate::demo::crowd::Crowd;
use crate::demo::figures::Figures;
use crate::demo::kinds::Found;

/// Groups of grabs, by order of arrival, whose average award is compared.
const TENTHS: usize = 10;
pub(super) const MOST_BARS: u64 = 20;
const LONGEST_BAR: f64 = 40.0;

pub(super) struct Given {
    pub(super) allocation: Allocation,
    pub(super) currency: String,
    pub(super) awarded: Awarded,
    /// What orders won, in the order in which they took their units.
    pub(super) grabbed: Vec<Award>,
    /// What the units that nobody took would have won, from the table.
    pub(super) untaken: Vec<Award>,
    pub(super) draw: Draw,
}

/// Whether a round's orders match its commitment. Part of the report of each kind with awards.
#[derive(Debug, Serialize)]
pub(super) struct Draw {
    /// The number of final orders. In a round with awards these are all live orders.
    pub(super) granted: usize,
    failed: usize,
    commitment: Option<String>,
    /// Whether that is the commitment to its seed and table.
    fits: bool,
    /// Live orders whose award differs from the table's for their unit.
    wrong_awards: usize,
    /// Whether the orders' awards are possible, counted from the orders alone.
    exact: bool,
    grabs: Pace,
}

impl Given {
    pub(super) async fn read(found: &Found<'_>) -> Result<Self> {
        let Crowd { ledger, round: id, .. } = found.crowd;
        let round = found.crowd.ledgers_round().await?;
        let seed = ledger.seed(id).await?.with_context(|| format!("round {id} has no seed"))?;
        let randomness = ledger.randomness(id, &round.terms.allocation).await?;
        let plan = round.terms.plan().with_context(|| format!("round {id} has no awards"))?;
        let table = Table::of(&plan, &seed.seed, randomness.as_ref())?;
        Self::of(&round, &seed.seed, &table, found.orders)
    }

    fn of(round: &Round, seed: &Seed, table: &Table, orders: &[Order]) -> Result<Self> {
        let (id, terms) = (&round.id, &round.terms);
        let mut awarded = Awarded::nothing(terms).with_context(|| format!("round {id} has no awards"))?;
        orders.iter().for_each(|order| awarded.add(order));
        let of_units = table.awards().into_iter().map(|value| terms.allocation.award(value));
        let of_units: Vec<Award> =
            of_units.collect::<Option<_>>().with_context(|| format!("round {id} has awards that it cannot have"))?;
        let of_unit = |order: &Order| of_units.get((order.reservation.unit.0 as usize).wrapping_sub(1)).copied();

        let mut live: Vec<&Order> = orders.iter().filter(|order| order.state.is_live()).collect();
        // Redis hands the units of such a round out in order.
        live.sort_by_key(|order| (order.reservation.reserved_at_ms, order.reservation.unit));
        let taken: HashSet<u32> = live.iter().map(|order| order.reservation.unit.0).collect();
        let untaken = (1..).zip(&of_units).filter(|(unit, _)| !taken.contains(unit));
        let count = |state| orders.iter().filter(|order| order.state == state).count();
        let commitment = award::commit(id.sale.as_str(), id.number.0, seed, &table.digest());
        let draw = Draw {
            granted: count(OrderState::Granted),
            failed: count(OrderState::Failed),
            commitment: round.commitment.map(|commitment| commitment.to_string()),
            fits: round.commitment == Some(commitment),
            wrong_awards: live.iter().filter(|order| order.award.is_none() || order.award != of_unit(order)).count(),
            exact: awarded.is_exact() && count(OrderState::Granted) == live.len(),
            grabs: Pace::of(&live.iter().map(|order| order.reservation.reserved_at_ms).collect::<Vec<_>>()),
        };
        Ok(Self {
            allocation: terms.allocation.clone(),
            currency: terms.price.currency.to_string(),
            awarded,
            grabbed: live.iter().filter_map(|order| order.award).collect(),
            untaken: untaken.map(|(_, award)| *award).collect(),
            draw,
        })
    }
}

impl Draw {
    /// Whether every order has what its unit won, and the commitment matches.
    pub(super) const fn is_right(&self) -> bool {
        self.fits && self.wrong_awards == 0 && self.exact
    }

    pub(super) fn show(&self, figures: &mut Figures) {
        figures.facts(json!(self));
        figures.row("commitment", self.commitment.as_deref().unwrap_or("none"));
        figures.row("  fits seed and table", if self.fits { "yes" } else { "NO" });
        figures.row("  orders that do not fit", self.wrong_awards);
        figures.gap();
        let Pace { step_ms, counts } = &self.grabs;
        figures.row("grabs a second", format!("in steps of {step_ms} ms, from the first one"));
        let most = counts.iter().copied().max().unwrap_or(0) as f64;
        for (at, count) in (0_u64..).zip(counts) {
            let [seconds, per_s] = [(at * step_ms) as f64 / 1000.0, *count as f64 * 1000.0 / *step_ms as f64];
            figures.row(&format!("  {seconds:.2} s"), format!("{per_s:>9.1}  {}", bar(*count as f64 / most)));
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Pace {
    step_ms: u64,
    /// Counts from the first grab to the last.
    counts: Vec<u64>,
}

impl Pace {
    fn of(moments: &[EpochMs]) -> Self {
        let first = moments.first().map_or(0, |moment| moment.0);
        let since: Vec<u64> = moments.iter().map(|moment| u64::try_from(moment.0 - first).unwrap_or(0)).collect();
        let last = since.last().copied().unwrap_or(0);
        let mut steps = (1..=12).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        let step_ms = steps.find(|step| last / step < MOST_BARS).unwrap_or(last);
        let mut counts = vec![0; if since.is_empty() { 0 } else { (last / step_ms) as usize + 1 }];
        since.iter().for_each(|since| counts[(since / step_ms) as usize] += 1);
        Self { step_ms, counts }
    }
}

/// A bar of a plot in text, as a fraction of the longest.
pub(super) fn bar(part: f64) -> String {
    "█".repeat((part.clamp(0.0, 1.0) * LONGEST_BAR).round() as usize)
}

/// The part of each tenth of those who came that got something, in order.
pub(super) fn by_arrival(figures: &mut Figures, parts: &[f64]) {
    let most = parts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    for (tenth, part) in (1..).zip(parts) {
        figures.row(&format!("  {tenth}. tenth"), format!("{:>5.1} %  {}", part * 100.0, bar(part / most)));
    }
}

/// Ten groups of (almost) equal size in order, without empty ones.
pub(super) fn tenths<T>(in_order: &[T]) -> impl Iterator<Item = &[T]> {
    let start = |tenth: usize| in_order.len() * tenth / TENTHS;
    (0..TENTHS).map(move |tenth| &in_order[start(tenth)..start(tenth + 1)]).filter(|group| !group.is_empty())
}

/// The mean of a list that is not empty.
pub(super) fn mean(of: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = of.len() as f64;
    of.sum::<f64>() / count
}

#[cfg(test)]
pub(super) mod tests {
    use sale::award::{Plan, commit};
    use sale::{DrawTime, Lane, Parts, Prize, Reservation, ReservationId, RoundId, RoundNumber, Slot, Terms, Unit};

    use super::*;

    const SEED: Seed = Seed([7; 32]);

    /// Ten units of an amount of 10.00, or with three prizes.
    pub(crate) fn split() -> Allocation {
        Allocation::Split { total_minor: 1_000, min_minor: 1, parts: Parts::Drawn, beacon: false }
    }

    pub(crate) fn prizes() -> Allocation {
        let prize = |name: &str, count| Prize { name: name.to_owned(), count };
        let prizes = vec![prize("A chair", 1), prize("A lamp", 2)];
        Allocation::Prizes { prizes, draw: DrawTime::Instant, beacon: false }
    }

    fn round(allocation: Allocation) -> (Round, Table) {
        let terms = json!({
            "title": "A packet", "opens_at_ms": 0, "closes_at_ms": 1_000_000, "total": 10, "per_user_limit": 1,
            "price_minor": 0, "currency": "EUR", "payment_window_s": 900, "door": sale::DoorTerms::default(),
            "allocation": allocation, "settlement": "free",
        });
        let terms: Terms = serde_json::from_value(terms).unwrap();
        let plan: Plan = terms.plan().unwrap();
        let table = Table::of(&plan, &SEED, None).unwrap();
        let id = RoundId { sale: "packet".parse().unwrap(), number: RoundNumber(1) };
        let commitment = Some(commit("packet", 1, &SEED, &table.digest()));
        let round = Round { commitment, ..Round::new(id, terms) };
        (round, table)
    }

    fn order(round: &Round, table: &Table, unit: u32) -> Order {
        let id: ReservationId = format!("packet.1.0198f0b2a4c57d1e8f00aabb{unit:08x}").parse().unwrap();
        let reservation = Reservation {
            id,
            user: format!("user-{unit}").parse().unwrap(),
            lane: Lane::default(),
            unit: Unit(unit),
            slot: Slot(0),
            reserved_at_ms: EpochMs(i64::from(unit) * 100),
        };
        let award = round.terms.allocation.award(table.award(unit));
        Order::granted(reservation, round.terms.price, EpochMs(2_000), award)
    }

    /// What a round gave whose first units were taken, after `change` of the orders.
    pub(crate) fn given(allocation: Allocation, taken: u32, change: impl FnOnce(&mut Vec<Order>)) -> Given {
        let (round, table) = round(allocation);
        let mut orders: Vec<Order> = (1..=taken).map(|unit| order(&round, &table, unit)).collect();
        change(&mut orders);
        Given::of(&round, &SEED, &table, &orders).unwrap()
    }

    #[test]
    fn orders_that_fit_are_right_whatever_their_order() {
        for allocation in [split(), prizes()] {
            for taken in [0, 4, 10] {
                let given = given(allocation.clone(), taken, |orders| orders.reverse());
                assert!(given.draw.is_right(), "{:?}", given.draw);
                assert_eq!((given.grabbed.len(), given.untaken.len()), (taken as usize, 10 - taken as usize));
            }
        }
    }

    #[test]
    fn an_award_beside_the_table_is_wrong_and_so_is_an_order_that_waits_for_a_payment() {
        // The sums stay the same; only the table shows the difference.
        let swapped = given(split(), 10, |orders| {
            let first = orders[0].award;
            let other = orders.iter().position(|order| order.award != first).unwrap();
            orders[0].award = orders[other].award;
            orders[other].award = first;
        });
        assert!(swapped.draw.exact && !swapped.draw.is_right(), "{:?}", swapped.draw);
        assert_eq!(swapped.draw.wrong_awards, 2);
        let without = given(split(), 3, |orders| orders[1].award = None);
        assert!(!without.draw.is_right() && without.draw.wrong_awards == 1, "{:?}", without.draw);
        let waits = given(split(), 3, |orders| orders[1].state = OrderState::Pending);
        assert!(!waits.draw.is_right(), "{:?}", waits.draw);
    }

    #[test]
    fn another_commitment_is_wrong() {
        let (mut round, table) = round(split());
        round.commitment = Some(commit("packet", 2, &SEED, &table.digest()));
        assert!(!Given::of(&round, &SEED, &table, &[]).unwrap().draw.is_right());
        round.commitment = None;
        assert!(!Given::of(&round, &SEED, &table, &[]).unwrap().draw.is_right());
    }

    #[test]
    fn grabs_are_counted_in_steps_that_make_a_few_bars() {
        let pace = |moments: &[i64]| Pace::of(&moments.iter().map(|ms| EpochMs(1_000 + ms)).collect::<Vec<_>>());
        assert_eq!(pace(&[]), Pace { step_ms: 10, counts: vec![] });
        assert_eq!(pace(&[0, 0, 9]), Pace { step_ms: 10, counts: vec![3] });
        assert_eq!(pace(&[0, 30, 31]), Pace { step_ms: 10, counts: vec![1, 0, 0, 2] });
        assert_eq!([199, 200, 7_200_000].map(|last| pace(&[0, last]).step_ms), [10, 20, 500_000]);
        let (mut figures, given) = (Figures::new(true), given(split(), 4, |_| {}));
        given.draw.show(&mut figures);
        let bars = figures.text.lines().filter(|line| line.ends_with(&"█".repeat(40))).count();
        assert_eq!(bars, given.draw.grabs.counts.iter().filter(|count| **count == 1).count());
    }

    #[test]
    fn tenths_have_everything_once() {
        for count in [0, 1, 9, 10, 25, 100] {
            let all: Vec<usize> = (0..count).collect();
            let groups: Vec<&[usize]> = tenths(&all).collect();
            assert_eq!(groups.concat(), all);
            assert_eq!(groups.len(), count.min(10));
        }
    }
}
