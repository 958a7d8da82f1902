//! The scripts: each changes Redis in one step.

use crate::job::Refusal;
use crate::stored::{Guards, Redis, Reservation, ReservationState, Seat};
use crate::{Mistake, Protocol};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    Held(Seat), // It has a unit, from this request or an earlier one.
    Ended,      // It has an order, or had a unit.
    Refused,    // Limit reached, sold out, or no keys.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reseated {
    To(Seat),
    SoldOut,
    LimitReached,
    AlreadyReleased,
    UnknownSale,
}

impl Protocol {
    fn take_unit(&self, redis: &mut Redis) -> Option<u8> {
        if let Some(unit) = redis.returned.iter().position(|is_returned| *is_returned) {
            redis.returned[unit] = false;
            return Some(unit as u8);
        }
        let unit = redis.next;
        (unit < self.scope.units).then(|| {
            redis.next += 1;
            unit
        })
    }

    /// Writes a reservation in place of the released one that had its slot.
    fn write_reservation(&self, redis: &mut Redis, seat: Seat, state: ReservationState) {
        for (reservation, id) in redis.reservations.iter_mut().zip(0..) {
            if self.user(id) == self.user(seat.id)
                && reservation.is_some_and(|reservation| reservation.slot == seat.slot && !reservation.is_live())
            {
                *reservation = None;
            }
        }
        redis.reservations[usize::from(seat.id)] = Some(Reservation { unit: seat.unit, slot: seat.slot, state });
    }

    /// Whether another live reservation of the user has the slot.
    pub(crate) fn slot_is_anothers(&self, redis: &Redis, id: u8, slot: u8) -> bool {
        redis.live().any(|seat| seat.id != id && self.user(seat.id) == self.user(id) && seat.slot == slot)
    }

    pub(crate) fn reserve(&self, redis: &mut Redis, id: u8) -> Reserved {
        if !redis.loaded {
            return Reserved::Refused;
        }
        match redis.reservations[usize::from(id)] {
            Some(_) if self.makes(Mistake::ReserveEveryTime) => {}
            Some(Reservation { unit, slot, state: ReservationState::Held }) => {
                return Reserved::Held(Seat { id, unit, slot });
            }
            Some(_) => return Reserved::Ended,
            None => {}
        }
        let Some(slot) = (0..self.scope.limit).find(|slot| !self.slot_is_anothers(redis, id, *slot)) else {
            return Reserved::Refused;
        };
        let Some(unit) = self.take_unit(redis) else { return Reserved::Refused };
        let seat = Seat { id, unit, slot };
        self.write_reservation(redis, seat, ReservationState::Held);
        Reserved::Held(seat)
    }

    /// Whether Redis knows the reservation.
    pub(crate) fn confirm(&self, redis: &mut Redis, id: u8) -> bool {
        let Some(reservation) = &mut redis.reservations[usize::from(id)] else { return false };
        if reservation.is_live() || self.makes(Mistake::ConfirmReleased) {
            reservation.state = ReservationState::Ordered;
        }
        true
    }

    /// Gives a reservation's unit back, unless it is this unit, which another order has.
    pub(crate) fn release(&self, redis: &mut Redis, id: u8, of_another: Option<u8>) {
        let Some(reservation) = &mut redis.reservations[usize::from(id)] else { return };
        if !reservation.is_live() && !self.makes(Mistake::ReleaseEveryTime) {
            return;
        }
        reservation.state = ReservationState::Released;
        let unit = reservation.unit;
        if redis.loaded && of_another != Some(unit) {
            redis.returned[usize::from(unit)] = true;
        }
    }

    /// Gives a reservation what the ledger refused it, the unit before the slot. One that Redis forgot gets both.
    pub(crate) fn reseat(&self, redis: &mut Redis, seat: Seat, refusal: Refusal) -> Reseated {
        if !redis.loaded {
            return Reseated::UnknownSale;
        }
        let own = redis.reservations[usize::from(seat.id)];
        match own {
            Some(reservation) if !reservation.is_live() => return Reseated::AlreadyReleased,
            Some(Reservation { unit, slot, .. }) if (unit, slot) != (seat.unit, seat.slot) => {
                return Reseated::To(Seat { unit, slot, ..seat });
            }
            _ => {}
        }
        let is_refused = |slot| own.is_some() && !refusal.unit && slot == seat.slot;
        let has_room = |slot: &u8| !is_refused(*slot) && !self.slot_is_anothers(redis, seat.id, *slot);
        let Some(slot) = std::iter::once(seat.slot).chain(0..self.scope.limit).find(has_room) else {
            return Reseated::LimitReached;
        };
        if slot != seat.slot && self.makes(Mistake::ReseatKeepsSlot) {
            return Reseated::SoldOut;
        }
        let unit = if own.is_some() && !refusal.unit { Some(seat.unit) } else { self.take_unit(redis) };
        let Some(unit) = unit else { return Reseated::SoldOut };
        let seat = Seat { unit, slot, ..seat };
        self.write_reservation(redis, seat, ReservationState::Held);
        Reseated::To(seat)
    }

    /// Takes an order's unit out of the free ones and writes the order's reservation. Also if the reservation is known:
    /// then another reservation with the same unit gave it back.
    pub(crate) fn adopt(&self, redis: &mut Redis, seat: Seat) {
        let known = redis.reservations[usize::from(seat.id)];
        let same = known
            .is_some_and(|reservation| reservation.state == ReservationState::Ordered && reservation.unit == seat.unit);
        let released = known.is_some_and(|reservation| !reservation.is_live());
        if !redis.loaded || released || (same && self.makes(Mistake::AdoptOnlyUnknown)) {
            return;
        }
        redis.returned[usize::from(seat.unit)] = false;
        while redis.next <= seat.unit {
            redis.returned[usize::from(redis.next)] |= redis.next < seat.unit;
            redis.next += 1;
        }
        if !same {
            self.write_reservation(redis, seat, ReservationState::Ordered);
        }
    }

    pub(crate) fn is_nowhere(redis: &Redis, unit: u8) -> bool {
        redis.loaded && redis.free(unit) == 0 && redis.holders(unit).next().is_none()
    }

    /// Puts back a unit in no place. In other keys than were read, it may never have been handed out, and is free.
    pub(crate) fn restore(&self, redis: &mut Redis, unit: u8) {
        if redis.loaded && (unit < redis.next || self.makes(Mistake::RestoreNeverHandedOut)) {
            redis.returned[usize::from(unit)] = true;
        }
    }

    /// Creates the round's keys: who has orders, the gaps between their units, and the first unit after the last of them.
    pub(crate) fn load(&self, redis: &mut Redis, taken: &Guards) {
        if redis.loaded && !self.makes(Mistake::LoadOverLiveRound) {
            return;
        }
        *redis = Redis::default();
        self.stage(redis, taken);
        self.open(redis, taken);
    }

    pub(crate) fn stage(&self, redis: &mut Redis, taken: &Guards) {
        // One write per user, which replaces that user's record.
        let has_order = |id| taken.iter().flatten().any(|guard| self.user(guard.0) == self.user(id));
        let replaced = redis.reservations.iter_mut().zip(0..).filter(|(_, id)| has_order(*id));
        replaced.for_each(|(reservation, _)| *reservation = None);
        for (guard, unit) in taken.iter().zip(0..) {
            if let Some((id, slot)) = *guard {
                redis.reservations[usize::from(id)] =
                    Some(Reservation { unit, slot, state: ReservationState::Ordered });
            }
        }
    }

    pub(crate) fn open(&self, redis: &mut Redis, taken: &Guards) {
        redis.loaded = true;
        let next = taken.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        redis.returned = std::array::from_fn(|unit| unit < next && taken[unit].is_none());
        redis.next = next as u8;
    }
}
