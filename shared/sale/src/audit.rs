//! Where is every unit? Compares what Redis and the ledger say of a round, unit by unit.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{EpochMs, HoldState, ReservationId, Unit};

/// What Redis says of a round.
#[derive(Debug, Clone, Default)]
pub struct StockView {
    /// Units that can be handed out: not handed out yet, or returned. Ranges may touch but not overlap.
    pub free: Vec<RangeInclusive<u32>>,
    /// Reservations that have their unit, and those that gave it back.
    pub holds: Vec<Claim<HoldState>>,
}

/// What the ledger says of a round.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    /// Unit guards: each with the order that it is for.
    pub guards: Vec<Claim<()>>,
    /// Orders in PENDING or PAID.
    pub live_orders: Vec<Claim<()>>,
}

/// Someone's claim on a unit.
#[derive(Debug, Clone)]
pub struct Claim<S> {
    /// Whose.
    pub id: ReservationId,
    /// On what.
    pub unit: Unit,
    /// When the reservation was made.
    pub since_ms: EpochMs,
    /// How it stands.
    pub state: S,
}

/// What is wrong with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// Two live orders have it, or a live order has a unit that the round never had.
    Oversold,
    /// It is in no place: nobody has it and nobody can get it.
    Lost,
    /// It is in two places: free and taken, free twice, or taken by two.
    Duplicated,
}

/// What reconciliation does about a unit. Each one is looked at again in the ledger before it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Make Redis know the order that has the unit.
    Adopt {
        /// The order.
        id: ReservationId,
    },
    /// Release a reservation whose order has ended.
    Release {
        /// The reservation.
        id: ReservationId,
        /// The unit that it has in Redis.
        unit: Unit,
    },
    /// Give back units that are in no place.
    Restore {
        /// The units.
        units: Vec<Unit>,
    },
}

/// A unit that is not in exactly one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// The unit.
    pub unit: Unit,
    /// What is wrong.
    pub wrong: Wrong,
    /// Everywhere that it was found, in words.
    pub found: Vec<String>,
    /// When the oldest reservation that is involved was made, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<EpochMs>,
    /// What reconciliation does about it. Nothing where a message is under way that settles it.
    pub repairs: Vec<Repair>,
}

/// The audit's result. `free + held + ordered + lost = total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Units in the round.
    pub total: u32,
    /// Units that can be handed out.
    pub free: u32,
    /// Units of reservations without an order.
    pub held: u32,
    /// Units of orders in PENDING or PAID.
    pub ordered: u32,
    /// Units sold to two, or sold without existing.
    pub oversold: u32,
    /// Units in no place.
    pub lost: u32,
    /// Units in two places.
    pub duplicated: u32,
    /// Units that are not in exactly one place, no more than [`MAX_DISCREPANCIES`].
    pub discrepancies: Vec<Discrepancy>,
    /// What reconciliation has to do, also where a unit is in one place but Redis does not know its order. Bounded
    /// likewise.
    #[serde(skip)]
    pub repairs: Vec<Repair>,
}

/// Discrepancies told at once: more than a person reads, and what one run of reconciliation repairs.
pub const MAX_DISCREPANCIES: usize = 1000;

impl Audit {
    /// Whether every unit is in exactly one place.
    pub fn is_clean(&self) -> bool {
        self.discrepancies.is_empty() && self.free + self.held + self.ordered == self.total
    }
}

/// Everywhere that a unit was found.
#[derive(Default)]
struct Places<'a> {
    free: u32,
    holds: Vec<&'a Claim<HoldState>>,
    guard: Option<&'a Claim<()>>,
    orders: Vec<&'a Claim<()>>,
}

impl Places<'_> {
    fn owner(&self) -> Option<&ReservationId> {
        self.guard.or(self.orders.first().copied()).map(|claim| &claim.id)
    }

    fn describe(&self) -> Vec<String> {
        let free = (0..self.free).map(|_| "free in Redis".to_owned());
        let holds = self.holds.iter().map(|hold| {
            let state = if hold.state == HoldState::Held { "held" } else { "ordered" };
            format!("{state} in Redis by {}", hold.id)
        });
        let guard = self.guard.iter().map(|guard| format!("guarded in the ledger for {}", guard.id));
        let orders = self.orders.iter().map(|order| format!("in live order {}", order.id));
        free.chain(holds).chain(guard).chain(orders).collect()
    }

    fn since_ms(&self) -> Option<EpochMs> {
        let holds = self.holds.iter().map(|hold| hold.since_ms);
        holds.chain(self.guard.iter().chain(&self.orders).map(|claim| claim.since_ms)).min()
    }

    fn wrong(&self, exists: bool) -> Option<Wrong> {
        let owner = self.owner();
        let taken_by_another = owner.is_some_and(|owner| self.holds.iter().any(|hold| hold.id != *owner));
        // An ordered hold whose order is gone will never be confirmed or expired: nobody gives the unit back.
        let orphan = owner.is_none() && self.holds.iter().any(|hold| hold.state == HoldState::Ordered);
        // A guard without its order, or an order without its guard, keeps the unit from everybody or from nobody.
        let half_order = self.guard.map(|guard| &guard.id) != self.orders.first().map(|order| &order.id);
        if self.orders.len() > 1 || (!exists && owner.is_some()) {
            Some(Wrong::Oversold)
        } else if self.free > 1
            || self.holds.len() > 1
            || (self.free > 0 && !self.holds.is_empty())
            || (self.free > 0 && owner.is_some())
            || taken_by_another
            || !exists
        {
            Some(Wrong::Duplicated)
        } else if orphan || half_order || (self.free == 0 && self.holds.is_empty() && owner.is_none()) {
            Some(Wrong::Lost)
        } else {
            None
        }
    }

    /// A held reservation is left alone, whoever else has its unit: its message is sent until an order or a failure
    /// comes of it.
    fn repairs(&self, unit: u32) -> Vec<Repair> {
        let owner = self.owner();
        let ended = self.holds.iter().filter(|hold| hold.state == HoldState::Ordered && Some(&hold.id) != owner);
        let mut repairs: Vec<_> = ended.map(|hold| Repair::Release { id: hold.id.clone(), unit: Unit(unit) }).collect();
        if let Some(owner) = owner {
            let known = self.holds.iter().any(|hold| hold.id == *owner && hold.state == HoldState::Ordered);
            if !known || self.free > 0 {
                repairs.push(Repair::Adopt { id: owner.clone() });
            }
        }
        repairs
    }
}

/// Puts each unit of a round of `total` units into its place.
///
/// A unit whose order is written but not confirmed in Redis yet counts as ordered: that is a step under way and not a
/// discrepancy. An order without a hold in Redis is in its place too, as long as Redis gives the unit to nobody else.
/// Time and memory grow with what is taken and not with the stock.
pub fn audit(total: u32, stock: &StockView, ledger: &LedgerView) -> Audit {
    let mut units: BTreeMap<u32, Places<'_>> = BTreeMap::new();
    for hold in stock.holds.iter().filter(|hold| hold.state.is_live()) {
        units.entry(hold.unit.0).or_default().holds.push(hold);
    }
    for guard in &ledger.guards {
        units.entry(guard.unit.0).or_default().guard = Some(guard);
    }
    for order in &ledger.live_orders {
        units.entry(order.unit.0).or_default().orders.push(order);
    }
    let free = merge_free(total, &stock.free, &mut units);

    let mut audit = Audit {
        total,
        free: free.iter().map(|range| range.end() - range.start() + 1).sum(),
        held: 0,
        ordered: 0,
        oversold: 0,
        lost: 0,
        duplicated: 0,
        discrepancies: Vec::new(),
        repairs: Vec::new(),
    };
    for (unit, places) in &units {
        let exists = (1..=total).contains(unit);
        let wrong = places.wrong(exists);
        let repairs = places.repairs(*unit);
        match wrong {
            Some(Wrong::Oversold) => audit.oversold += 1,
            Some(Wrong::Lost) => audit.lost += 1,
            Some(Wrong::Duplicated) => audit.duplicated += 1,
            None => {}
        }
        if let Some(wrong) = wrong.filter(|_| audit.discrepancies.len() < MAX_DISCREPANCIES) {
            let (found, since_ms) = (places.describe(), places.since_ms());
            audit.discrepancies.push(Discrepancy {
                unit: Unit(*unit),
                wrong,
                found,
                since_ms,
                repairs: repairs.clone(),
            });
        }
        if audit.repairs.len() < MAX_DISCREPANCIES {
            audit.repairs.extend(repairs);
        }
        // The unit was counted as free already if it is.
        let was_free = u32::from(exists && places.free > 0);
        if places.owner().is_some() && exists && wrong != Some(Wrong::Lost) {
            audit.ordered += 1;
            audit.free -= was_free;
        } else if !places.holds.is_empty() && exists && wrong != Some(Wrong::Lost) {
            audit.held += 1;
            audit.free -= was_free;
        }
    }
    let nowhere = nowhere(total, &free, &units);
    audit.lost += nowhere.len() as u32;
    for unit in nowhere.iter().take(MAX_DISCREPANCIES.saturating_sub(audit.discrepancies.len())) {
        let repairs = vec![Repair::Restore { units: vec![*unit] }];
        let found = Vec::new();
        audit.discrepancies.push(Discrepancy { unit: *unit, wrong: Wrong::Lost, found, since_ms: None, repairs });
    }
    if !nowhere.is_empty() {
        // First of all: every other repair moves units, and then it is not known any more whether these are in no place.
        let units = nowhere.into_iter().take(MAX_DISCREPANCIES).collect();
        audit.repairs.insert(0, Repair::Restore { units });
    }
    audit
}

/// The free units of the round as ranges that do not touch. A unit that is taken as well, is free twice or does not exist
/// is noted in `units`.
fn merge_free<'a>(
    total: u32,
    free: &[RangeInclusive<u32>],
    units: &mut BTreeMap<u32, Places<'a>>,
) -> Vec<RangeInclusive<u32>> {
    let mut sorted: Vec<_> = free.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_unstable_by_key(|range| (*range.start(), *range.end()));
    let mut merged: Vec<RangeInclusive<u32>> = Vec::new();
    for range in sorted {
        units.range_mut(range.clone()).for_each(|(_, places)| places.free += 1);
        let (start, end) = range.into_inner();
        let covered = merged.last().map_or(0, |last| *last.end());
        for twice in start..=end.min(covered) {
            // Taken as well: counted above. If not, this is its first note, for the range before and this one.
            let places = units.entry(twice).or_default();
            places.free = places.free.max(2);
        }
        for beyond in start.max(total + 1)..=end {
            let places = units.entry(beyond).or_default();
            places.free = places.free.max(1);
        }
        let (start, end) = (start.max(covered + 1), end.min(total));
        if start <= end {
            merged.push(start..=end);
        }
    }
    merged
}

/// Units of the round that are neither free nor taken.
fn nowhere(total: u32, free: &[RangeInclusive<u32>], units: &BTreeMap<u32, Places<'_>>) -> Vec<Unit> {
    let mut taken = units.keys().copied().peekable();
    let mut nowhere = Vec::new();
    let mut next = 1;
    let ends = free.iter().cloned().chain(std::iter::once(total + 1..=total + 1));
    for range in ends {
        for unit in next..*range.start() {
            while taken.next_if(|other| *other < unit).is_some() {}
            if taken.peek() != Some(&unit) {
                nowhere.push(Unit(unit));
            }
        }
        next = range.end() + 1;
    }
    nowhere
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn claim<S>(n: u128, unit: u32, state: S) -> Claim<S> {
        let id = ReservationId { sale: "s".parse().unwrap(), round: crate::Round(1), uuid: Uuid::from_u128(n) };
        Claim { id, unit: Unit(unit), since_ms: EpochMs(7), state }
    }

    fn ledger(orders: &[(u128, u32)]) -> LedgerView {
        let claims: Vec<_> = orders.iter().map(|(n, unit)| claim(*n, *unit, ())).collect();
        LedgerView { guards: claims.clone(), live_orders: claims }
    }

    fn stock(free: &[RangeInclusive<u32>], holds: &[(u128, u32, HoldState)]) -> StockView {
        StockView {
            free: free.to_vec(),
            holds: holds.iter().map(|(n, unit, state)| claim(*n, *unit, *state)).collect(),
        }
    }

    fn wrongs(audit: &Audit) -> Vec<(u32, Wrong)> {
        audit.discrepancies.iter().map(|d| (d.unit.0, d.wrong)).collect()
    }

    #[test]
    fn each_unit_in_its_place() {
        use HoldState::*;
        let stock = stock(&[5..=6, 1..=1], &[(2, 2, Held), (3, 3, Held), (4, 4, Ordered), (9, 1, Released)]);
        let audit = audit(6, &stock, &ledger(&[(3, 3), (4, 4)]));
        assert!(audit.is_clean(), "{audit:?}");
        assert_eq!((audit.free, audit.held, audit.ordered), (3, 1, 2));
    }

    #[test]
    fn an_order_that_redis_forgot_is_in_its_place() {
        let audit = audit(2, &stock(&[2..=2], &[]), &ledger(&[(1, 1)]));
        assert!(audit.is_clean(), "{audit:?}");
    }

    #[test]
    fn nowhere_is_lost() {
        use HoldState::*;
        assert_eq!(wrongs(&audit(1, &stock(&[], &[]), &ledger(&[]))), [(1, Wrong::Lost)]);
        assert_eq!(wrongs(&audit(1, &stock(&[], &[(1, 1, Released)]), &ledger(&[]))), [(1, Wrong::Lost)]);
        assert_eq!(wrongs(&audit(1, &stock(&[], &[(1, 1, Ordered)]), &ledger(&[]))), [(1, Wrong::Lost)]);
    }

    #[test]
    fn half_an_order_is_lost() {
        let mut no_order = ledger(&[(1, 1)]);
        no_order.live_orders.clear();
        assert_eq!(wrongs(&audit(1, &stock(&[], &[]), &no_order)), [(1, Wrong::Lost)]);
        let mut no_guard = ledger(&[(1, 1)]);
        no_guard.guards.clear();
        assert_eq!(wrongs(&audit(1, &stock(&[], &[]), &no_guard)), [(1, Wrong::Lost)]);
    }

    #[test]
    fn in_two_places_is_duplicated() {
        use HoldState::*;
        let none = ledger(&[]);
        let one = ledger(&[(1, 1)]);
        assert_eq!(wrongs(&audit(1, &stock(&[1..=1, 1..=1], &[]), &none)), [(1, Wrong::Duplicated)]);
        assert_eq!(wrongs(&audit(1, &stock(&[1..=1], &[(1, 1, Held)]), &none)), [(1, Wrong::Duplicated)]);
        assert_eq!(wrongs(&audit(1, &stock(&[], &[(1, 1, Held), (2, 1, Held)]), &none)), [(1, Wrong::Duplicated)]);
        assert_eq!(wrongs(&audit(1, &stock(&[1..=1], &[]), &one)), [(1, Wrong::Duplicated)]);
        assert_eq!(wrongs(&audit(1, &stock(&[], &[(2, 1, Held)]), &one)), [(1, Wrong::Duplicated)]);
        assert_eq!(wrongs(&audit(1, &stock(&[1..=2], &[]), &none)), [(2, Wrong::Duplicated)]);
    }

    #[test]
    fn two_orders_or_a_unit_too_many_is_oversold() {
        let mut two = ledger(&[(1, 1)]);
        two.live_orders.push(claim(2, 1, ()));
        assert_eq!(wrongs(&audit(1, &stock(&[], &[]), &two)), [(1, Wrong::Oversold)]);
        assert_eq!(wrongs(&audit(1, &stock(&[1..=1], &[]), &ledger(&[(1, 2)]))), [(2, Wrong::Oversold)]);
    }

    #[test]
    fn each_discrepancy_says_what_is_done_about_it() {
        use HoldState::*;
        let id = |n| claim(n, 0, ()).id;
        // 1 free and ordered, 2 ordered by one in Redis and by another in the ledger, 3 ordered in Redis only, 4 nowhere,
        // 5 held by one and ordered by another, 6 ordered and unknown to Redis.
        let stock = stock(&[1..=1], &[(20, 2, Ordered), (30, 3, Ordered), (50, 5, Held)]);
        let audit = audit(6, &stock, &ledger(&[(1, 1), (2, 2), (5, 5), (6, 6)]));
        let repairs: Vec<_> = audit.discrepancies.iter().map(|d| (d.unit.0, d.repairs.clone())).collect();
        let release = |n, unit| Repair::Release { id: id(n), unit: Unit(unit) };
        let adopt = |n| Repair::Adopt { id: id(n) };
        let expected = [
            (1, vec![adopt(1)]),
            (2, vec![release(20, 2), adopt(2)]),
            (3, vec![release(30, 3)]),
            (5, vec![adopt(5)]),
            (4, vec![Repair::Restore { units: vec![Unit(4)] }]),
        ];
        assert_eq!(repairs, expected);
        assert_eq!(audit.discrepancies[0].since_ms, Some(EpochMs(7)));
        assert!(audit.repairs.contains(&adopt(6)), "in its place, and still to be made known");
    }

    #[test]
    fn the_stock_may_be_large() {
        let audit = audit(10_000_000, &stock(&[2..=10_000_000], &[(1, 1, HoldState::Held)]), &ledger(&[]));
        assert!(audit.is_clean(), "{audit:?}");
        assert_eq!((audit.free, audit.held), (9_999_999, 1));
    }

    #[test]
    fn the_places_add_up() {
        use HoldState::*;
        let stock = stock(&[1..=3], &[(1, 4, Held), (2, 5, Ordered)]);
        let audit = audit(6, &stock, &ledger(&[(7, 3)]));
        assert_eq!(audit.free + audit.held + audit.ordered + audit.lost, audit.total);
        assert_eq!(wrongs(&audit), [(3, Wrong::Duplicated), (5, Wrong::Lost), (6, Wrong::Lost)]);
    }
}
