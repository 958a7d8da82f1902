use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use range_set_blaze::RangeSetBlaze;

use super::views::LiveOrder;
use super::wrong::{Repair, Wrong};
use crate::{EpochMs, Reservation, ReservationId, ReservationState, StoredReservation, Unit};

#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) free: u32,
    pub(super) reservations: Vec<&'a StoredReservation>,
    pub(super) guard: Option<&'a Reservation>,
    pub(super) orders: Vec<&'a LiveOrder>,
}

impl Found<'_> {
    pub(super) fn owner(&self) -> Option<&ReservationId> {
        self.guard.map(|guard| &guard.id).or(self.orders.first().map(|order| &order.id))
    }

    pub(super) fn describe(&self) -> Vec<String> {
        let free = (0..self.free).map(|_| "free in Redis".to_owned());
        let reservations = self.reservations.iter().map(|stored| {
            let state = if stored.state == ReservationState::Held { "held" } else { "ordered" };
            format!("{state} in Redis by {}", stored.reservation.id)
        });
        let guard = self.guard.iter().map(|guard| format!("guarded in the ledger for {}", guard.id));
        let orders = self.orders.iter().map(|order| format!("in live order {}", order.id));
        free.chain(reservations).chain(guard).chain(orders).collect()
    }

    pub(super) fn since_ms(&self) -> Option<EpochMs> {
        let reservations = self.reservations.iter().map(|stored| &stored.reservation).chain(self.guard);
        let orders = self.orders.iter().map(|order| order.reserved_at_ms);
        reservations.map(|reservation| reservation.reserved_at_ms).chain(orders).min()
    }

    pub(super) fn wrong(&self, exists: bool) -> Option<Wrong> {
        let owner = self.owner();
        let taken_by_another =
            owner.is_some_and(|owner| self.reservations.iter().any(|stored| stored.reservation.id != *owner));
        // An ordered reservation whose order is gone will never be confirmed or expire, so nothing gives the unit back.
        let orphan =
            owner.is_none() && self.reservations.iter().any(|stored| stored.state == ReservationState::Ordered);
        // A guard without its order keeps the unit from everybody; an order without its guard, from nobody.
        let half_order = self.guard.map(|guard| &guard.id) != self.orders.first().map(|order| &order.id);
        let times_in_redis = self.free as usize + self.reservations.len();
        if self.orders.len() > 1 || (!exists && owner.is_some()) {
            Some(Wrong::Oversold)
        } else if times_in_redis > 1 || (self.free > 0 && owner.is_some()) || taken_by_another || !exists {
            Some(Wrong::Duplicated)
        } else if orphan || half_order || (times_in_redis == 0 && owner.is_none()) {
            Some(Wrong::Lost)
        } else {
            None
        }
    }

    /// Leaves a held reservation alone, whoever else has its unit: its message comes until it is an order or fails.
    pub(super) fn repairs(&self, unit: u32) -> Vec<Repair> {
        let owner = self.owner();
        let is_ordered = |stored: &&&StoredReservation| stored.state == ReservationState::Ordered;
        let ordered = || self.reservations.iter().filter(is_ordered).map(|stored| &stored.reservation.id);
        let ended = ordered().filter(|id| Some(*id) != owner);
        let mut repairs: Vec<_> = ended.map(|id| Repair::Release { id: id.clone(), unit: Unit(unit) }).collect();
        if let Some(owner) = owner
            && (self.free > 0 || !ordered().any(|id| id == owner))
        {
            repairs.push(Repair::Adopt { id: owner.clone() });
        }
        repairs
    }
}

/// The free units as ranges that do not touch. One that is also taken, free twice or nonexistent goes to `units`.
pub(super) fn merge_free<'a>(
    total: u32,
    free: &[RangeInclusive<u32>],
    units: &mut BTreeMap<u32, Found<'a>>,
) -> Vec<RangeInclusive<u32>> {
    let mut sorted: Vec<_> = free.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_unstable_by_key(|range| (*range.start(), *range.end()));
    let mut merged: Vec<RangeInclusive<u32>> = Vec::new();
    for range in sorted {
        units.range_mut(range.clone()).for_each(|(_, found)| found.free += 1);
        let (start, end) = range.into_inner();
        let covered = merged.last().map_or(0, |last| *last.end());
        for twice in start..=end.min(covered) {
            // If it is also taken, it was counted above. If not, this is its first record, for both ranges.
            let found = units.entry(twice).or_default();
            found.free = found.free.max(2);
        }
        for beyond in start.max(total + 1)..=end {
            let found = units.entry(beyond).or_default();
            found.free = found.free.max(1);
        }
        let (start, end) = (start.max(covered + 1), end.min(total));
        if start <= end {
            merged.push(start..=end);
        }
    }
    merged
}

pub(super) fn nowhere(total: u32, free: &[RangeInclusive<u32>], units: &BTreeMap<u32, Found<'_>>) -> Vec<Unit> {
    let taken: RangeSetBlaze<u32> = units.keys().collect();
    let nowhere = RangeSetBlaze::from_iter([1..=total]) - RangeSetBlaze::from_iter(free) - taken;
    nowhere.into_iter().map(Unit).collect()
}
