//! The scripts: each changes Redis in one step.

use serde::{Deserialize, Serialize};

use crate::job::Refusal;
use crate::stored::{Guards, Redis, Reservation, ReservationState, Seat};
use crate::{Mistake, Protocol};

/// The first word of a script's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Reserved,
    Replayed,
    AlreadyReserved,
    SoldOut,
    /// `sold_out` while returned units are in cooldown. The model has no time: it allows this whenever it was recorded.
    InCooldown,
    Confirmed,
    AlreadyConfirmed,
    Released,
    AlreadyReleased,
    UnknownReservation,
    UnknownSale,
    Reseated,
    LimitReached,
    Adopted,
    Restored,
    Moved,
    Loaded,
    Present,
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

    /// Returns the seat of the reservation, also of one that has ended. None if it is refused.
    pub(crate) fn reserve(&self, redis: &mut Redis, id: u8) -> (Answer, Option<Seat>) {
        if !redis.loaded {
            return (Answer::UnknownSale, None);
        }
        if let Some(Reservation { unit, slot, .. }) = redis.reservations[usize::from(id)]
            && !self.makes(Mistake::ReserveEveryTime)
        {
            return (Answer::Replayed, Some(Seat { id, unit, slot }));
        }
        let Some(slot) = (0..self.scope.limit).find(|slot| !self.slot_is_anothers(redis, id, *slot)) else {
            return (Answer::AlreadyReserved, None);
        };
        let Some(unit) = self.take_unit(redis) else { return (Answer::SoldOut, None) };
        let seat = Seat { id, unit, slot };
        self.write_reservation(redis, seat, ReservationState::Held);
        (Answer::Reserved, Some(seat))
    }

    pub(crate) fn confirm(&self, redis: &mut Redis, id: u8) -> Answer {
        let Some(reservation) = &mut redis.reservations[usize::from(id)] else { return Answer::UnknownReservation };
        match reservation.state {
            ReservationState::Ordered => return Answer::AlreadyConfirmed,
            ReservationState::Released if !self.makes(Mistake::ConfirmReleased) => return Answer::AlreadyReleased,
            ReservationState::Held | ReservationState::Released => {}
        }
        reservation.state = ReservationState::Ordered;
        Answer::Confirmed
    }

    /// Gives a reservation's unit back, unless it is this unit, which another order has.
    pub(crate) fn release(&self, redis: &mut Redis, id: u8, of_another: Option<u8>) -> Answer {
        let Some(reservation) = &mut redis.reservations[usize::from(id)] else { return Answer::UnknownReservation };
        if !reservation.is_live() && !self.makes(Mistake::ReleaseEveryTime) {
            return Answer::AlreadyReleased;
        }
        reservation.state = ReservationState::Released;
        let unit = reservation.unit;
        if redis.loaded && of_another != Some(unit) {
            redis.returned[usize::from(unit)] = true;
        }
        Answer::Released
    }

    /// Gives a reservation what the ledger refused it, the unit before the slot. One that Redis forgot gets both.
    pub(crate) fn reseat(&self, redis: &mut Redis, seat: Seat, refusal: Refusal) -> (Answer, Option<Seat>) {
        if !redis.loaded {
            return (Answer::UnknownSale, None);
        }
        let own = redis.reservations[usize::from(seat.id)];
        match own {
            Some(reservation) if !reservation.is_live() => return (Answer::AlreadyReleased, None),
            Some(Reservation { unit, slot, .. }) if (unit, slot) != (seat.unit, seat.slot) => {
                return (Answer::Reseated, Some(Seat { unit, slot, ..seat }));
            }
            _ => {}
        }
        let is_refused = |slot| own.is_some() && !refusal.unit && slot == seat.slot;
        let has_room = |slot: &u8| !is_refused(*slot) && !self.slot_is_anothers(redis, seat.id, *slot);
        let Some(slot) = std::iter::once(seat.slot).chain(0..self.scope.limit).find(has_room) else {
            return (Answer::LimitReached, None);
        };
        if slot != seat.slot && self.makes(Mistake::ReseatKeepsSlot) {
            return (Answer::SoldOut, None);
        }
        let unit = if own.is_some() && !refusal.unit { Some(seat.unit) } else { self.take_unit(redis) };
        let Some(unit) = unit else { return (Answer::SoldOut, None) };
        let seat = Seat { unit, slot, ..seat };
        self.write_reservation(redis, seat, ReservationState::Held);
        (Answer::Reseated, Some(seat))
    }

    /// Takes an order's unit out of the free ones and writes the order's reservation. Also if the reservation is known:
    /// then another reservation with the same unit gave it back.
    pub(crate) fn adopt(&self, redis: &mut Redis, seat: Seat) -> Answer {
        let before = *redis;
        let known = redis.reservations[usize::from(seat.id)];
        let same = known
            .is_some_and(|reservation| reservation.state == ReservationState::Ordered && reservation.unit == seat.unit);
        if !redis.loaded {
            return Answer::UnknownSale;
        }
        if known.is_some_and(|reservation| !reservation.is_live()) {
            return Answer::AlreadyReleased;
        }
        if same && self.makes(Mistake::AdoptOnlyUnknown) {
            return Answer::AlreadyConfirmed;
        }
        redis.returned[usize::from(seat.unit)] = false;
        while redis.next <= seat.unit {
            redis.returned[usize::from(redis.next)] |= redis.next < seat.unit;
            redis.next += 1;
        }
        if !same {
            self.write_reservation(redis, seat, ReservationState::Ordered);
        }
        if *redis == before { Answer::AlreadyConfirmed } else { Answer::Adopted }
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
