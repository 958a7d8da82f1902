//! Where is every unit? Compares what Redis and the ledger say of a round, unit by unit.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{HoldState, ReservationId, Unit};

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

/// A unit that is not in exactly one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// The unit.
    pub unit: Unit,
    /// What is wrong.
    pub wrong: Wrong,
    /// Everywhere that it was found, in words.
    pub found: Vec<String>,
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
    /// Each unit that is not in exactly one place.
    pub discrepancies: Vec<Discrepancy>,
}

impl Audit {
    /// Whether every unit is in exactly one place.
    pub fn is_clean(&self) -> bool {
        self.discrepancies.is_empty() && self.free + self.held + self.ordered == self.total
    }
}

#[derive(Default)]
struct Places<'a> {
    free: u32,
    holds: Vec<&'a Claim<HoldState>>,
    guard: Option<&'a ReservationId>,
    orders: Vec<&'a ReservationId>,
}

impl Places<'_> {
    fn describe(&self) -> Vec<String> {
        let free = (0..self.free).map(|_| "free in Redis".to_owned());
        let holds = self.holds.iter().map(|hold| {
            let state = if hold.state == HoldState::Held { "held" } else { "ordered" };
            format!("{state} in Redis by {}", hold.id)
        });
        let guard = self.guard.iter().map(|id| format!("guarded in the ledger for {id}"));
        let orders = self.orders.iter().map(|id| format!("in live order {id}"));
        free.chain(holds).chain(guard).chain(orders).collect()
    }

    fn wrong(&self, exists: bool) -> Option<Wrong> {
        let owner = self.guard.or(self.orders.first().copied());
        let taken_by_another = owner.is_some_and(|owner| self.holds.iter().any(|hold| hold.id != *owner));
        // An ordered hold whose order is gone will never be confirmed or expired: nobody gives the unit back.
        let orphan = owner.is_none() && self.holds.iter().any(|hold| hold.state == HoldState::Ordered);
        // A guard without its order, or an order without its guard, keeps the unit from everybody or from nobody.
        let half_order = self.guard != self.orders.first().copied();
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
}

/// Puts each unit of a round of `total` units into its place.
///
/// A unit whose order is written but not confirmed in Redis yet counts as ordered: that is a step under way and not a
/// discrepancy. An order without a hold in Redis is in its place too, as long as Redis gives the unit to nobody else.
pub fn audit(total: u32, stock: &StockView, ledger: &LedgerView) -> Audit {
    let mut units: BTreeMap<u32, Places> = (1..=total).map(|unit| (unit, Places::default())).collect();
    for unit in stock.free.iter().cloned().flatten() {
        units.entry(unit).or_default().free += 1;
    }
    for hold in stock.holds.iter().filter(|hold| hold.state.is_live()) {
        units.entry(hold.unit.0).or_default().holds.push(hold);
    }
    for guard in &ledger.guards {
        units.entry(guard.unit.0).or_default().guard = Some(&guard.id);
    }
    for order in &ledger.live_orders {
        units.entry(order.unit.0).or_default().orders.push(&order.id);
    }

    let mut audit =
        Audit { total, free: 0, held: 0, ordered: 0, oversold: 0, lost: 0, duplicated: 0, discrepancies: Vec::new() };
    for (unit, places) in units {
        let exists = (1..=total).contains(&unit);
        let wrong = places.wrong(exists);
        match wrong {
            Some(Wrong::Oversold) => audit.oversold += 1,
            Some(Wrong::Lost) => audit.lost += 1,
            Some(Wrong::Duplicated) => audit.duplicated += 1,
            None => {}
        }
        if let Some(wrong) = wrong {
            audit.discrepancies.push(Discrepancy { unit: Unit(unit), wrong, found: places.describe() });
        }
        if !exists || wrong == Some(Wrong::Lost) {
            continue;
        }
        if places.guard.is_some() || !places.orders.is_empty() {
            audit.ordered += 1;
        } else if !places.holds.is_empty() {
            audit.held += 1;
        } else {
            audit.free += 1;
        }
    }
    audit
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn claim<S>(n: u128, unit: u32, state: S) -> Claim<S> {
        let id = ReservationId { sale: "s".parse().unwrap(), round: crate::Round(1), uuid: Uuid::from_u128(n) };
        Claim { id, unit: Unit(unit), state }
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
    fn the_places_add_up() {
        use HoldState::*;
        let stock = stock(&[1..=3], &[(1, 4, Held), (2, 5, Ordered)]);
        let audit = audit(6, &stock, &ledger(&[(7, 3)]));
        assert_eq!(audit.free + audit.held + audit.ordered + audit.lost, audit.total);
        assert_eq!(wrongs(&audit), [(3, Wrong::Duplicated), (5, Wrong::Lost), (6, Wrong::Lost)]);
    }
}
