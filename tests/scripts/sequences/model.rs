use std::collections::VecDeque;
use std::fmt::Debug;

use stock::{Counters, RoundView, WinsSeen};
use tests::fresh_reservation;

use crate::prelude::*;

/// May buy two hours before everyone else, and have units of the quota.
pub(super) const MEMBER: BuyerClass = BuyerClass { lead_s: 7200, has_quota: true };

/// Every second user is a member.
pub(super) fn class_of(user: &UserId) -> BuyerClass {
    if user.as_str().ends_with(['1', '3']) { MEMBER } else { BuyerClass::EVERYONE }
}

/// A model of a round in Redis: a set of units, and each user's reservations.
#[derive(Debug, Clone)]
pub(super) struct Model {
    returned: BTreeSet<u32>, // Units that came back, or that a load left out.
    next: u32,               // The first unit that was never handed out.
    last: u32,
    round: Round, // The latest round that Redis knows.
    epoch_ms: EpochMs,
    /// When the last unit was handed out. After a load it is the time of the load, by Redis's clock.
    last_won_at_ms: EpochMs,
    records: BTreeMap<UserId, BTreeMap<Uuid, StoredReservation>>,
    outbox: VecDeque<(UserId, EpochMs)>,
    unpaid: BTreeMap<UserId, BTreeSet<Uuid>>, // Reservations that ended unpaid.
    quota: u32,                               // Units that only members get.
    used_up: BTreeMap<UserId, u32>,           // How many of them each member has used up.
    pub(super) in_cooldown: bool,             // Whether free units are in cooldown until time passes.
    cooldown_began: bool,                     // Whether the last step started a cooldown.
    pub(super) cooldown_until_ms: EpochMs,    // Until when the cooldown lasts, as Redis said.
    /// Whether the last step recorded a buyer that Redis did not know, which must move the time of the last win.
    new_name: bool,
    moves: u32, // The last count of moves in Redis. The model only requires that it changes.
    returned_before: BTreeSet<u32>, // The returned units with which it showed that count.
}

impl Model {
    pub(super) fn load(round: Round, epoch_ms: EpochMs, loaded: &Counters, taken: Vec<Reservation>) -> Self {
        let units: BTreeSet<u32> = taken.iter().map(|reservation| reservation.unit.0).collect();
        let next = units.last().map_or(1, |unit| unit + 1);
        let mut records: BTreeMap<UserId, BTreeMap<Uuid, StoredReservation>> = BTreeMap::new();
        for reservation in taken {
            let stored = StoredReservation { reservation, state: ReservationState::Ordered };
            records.entry(stored.reservation.user.clone()).or_default().insert(stored.reservation.id.uuid, stored);
        }
        let returned: BTreeSet<u32> = (1..next).filter(|unit| !units.contains(unit)).collect();
        let free = returned.len() as u32 + (round.terms.total + 1).saturating_sub(next);
        let quota = round.terms.quota().map_or(0, |(units, _)| units.min(free));
        Self {
            quota,
            used_up: BTreeMap::new(),
            returned_before: returned.clone(),
            returned,
            next,
            last: round.terms.total,
            round,
            epoch_ms,
            last_won_at_ms: loaded.last_won_at_ms,
            records,
            outbox: VecDeque::new(),
            unpaid: BTreeMap::new(),
            in_cooldown: false,
            cooldown_began: false,
            cooldown_until_ms: loaded.cooldown_until_ms,
            new_name: false,
            moves: 0,
        }
    }

    fn quota_until_ms(&self) -> EpochMs {
        self.round.terms.quota().map_or(EpochMs(0), |(_, until)| until)
    }

    pub(super) fn free(&self) -> BTreeSet<u32> {
        self.returned.iter().copied().chain(self.next..=self.last).collect()
    }

    fn reservations(&self) -> Vec<StoredReservation> {
        self.records.values().flat_map(BTreeMap::values).cloned().collect()
    }

    pub(super) fn find(&self, user: &UserId, id: Uuid) -> Option<&StoredReservation> {
        self.records.get(user)?.get(&id)
    }

    /// `now` is the time of the answer.
    pub(super) fn reserve(&mut self, id: &ReservationId, user: &UserId, now: EpochMs) -> Reserve {
        let (terms, class) = (&self.round.terms, class_of(user));
        // A user has no reservation before the round opens for that user.
        let opens_at_ms = terms.opens_at_ms.minus_s(class.lead_s);
        if now < opens_at_ms && now < terms.closes_at_ms && !self.free().is_empty() {
            return Reserve::NotOpen(opens_at_ms);
        }
        if let Some(stored) = self.find(user, id.uuid) {
            return Reserve::Replayed(stored.clone());
        }
        let live = self.live(user);
        if live.len() >= usize::from(terms.per_user_limit) {
            return Reserve::AlreadyReserved(live);
        }
        if self.free().is_empty() {
            return self.sold_out();
        }
        if now >= terms.closes_at_ms {
            return Reserve::Closed;
        }
        if self.round.paused {
            return Reserve::Paused;
        }
        let quota_lasts = now < self.quota_until_ms();
        if quota_lasts && !class.has_quota && self.free().len() <= self.quota as usize {
            return Reserve::QuotaOnly(self.quota_until_ms());
        }
        if self.in_cooldown {
            return self.sold_out();
        }
        let unpaid = self.unpaid.get(user).map_or(0, |ids| ids.len() as u32);
        if unpaid >= u32::from(terms.door.unpaid_limit) {
            return Reserve::TooManyUnpaid(unpaid);
        }
        let slot =
            (0..).map(Slot).find(|slot| live.iter().all(|stored| stored.reservation.slot != *slot)).expect("a slot");
        let unit = self.take().expect("a free unit");
        let reservation =
            Reservation { id: id.clone(), reserved_at_ms: now, ..fresh_reservation(&id.round, user, unit.0, slot.0) };
        self.put(held(&reservation));
        if quota_lasts && class.has_quota && self.quota > 0 {
            self.quota -= 1;
            *self.used_up.entry(user.clone()).or_default() += 1;
        }
        self.outbox.push_back((user.clone(), now));
        self.last_won_at_ms = now;
        Reserve::Reserved(reservation)
    }

    pub(super) fn confirm(&mut self, reservation: &Reservation) -> bool {
        let Some(stored) = self.find_mut(reservation) else { return false };
        if stored.state.is_live() {
            stored.state = ReservationState::Ordered;
        }
        true
    }

    fn sold_out(&self) -> Reserve {
        let (wins, lasts) = (WinsSeen::at(self.last_won_at_ms), Duration::ZERO);
        Reserve::SoldOut(SoldOut { wins, lasts, next_release_ms: None })
    }

    /// Starts the cooldown of free units if it was sold out.
    fn cooldown_if(&mut self, was_sold_out: bool) {
        if was_sold_out && !self.free().is_empty() {
            (self.in_cooldown, self.cooldown_began) = (true, true);
        }
    }

    pub(super) fn release(&mut self, reservation: &Reservation, of_another: Option<Unit>, unpaid: bool) {
        let was_sold_out = self.free().is_empty();
        if !unpaid && let Some(ids) = self.unpaid.get_mut(&reservation.user) {
            ids.remove(&reservation.id.uuid);
        }
        let Some(stored) = self.find_mut(reservation).filter(|stored| stored.state.is_live()) else { return };
        stored.state = ReservationState::Released;
        let unit = stored.reservation.unit;
        if of_another != Some(unit) {
            self.returned.insert(unit.0);
        }
        if let Some(used_up) = self.used_up.get_mut(&reservation.user).filter(|used_up| **used_up > 0) {
            *used_up -= 1;
            self.quota += 1;
        }
        if unpaid {
            self.unpaid.entry(reservation.user.clone()).or_default().insert(reservation.id.uuid);
        }
        self.cooldown_if(was_sold_out);
    }

    pub(super) fn reseat(&mut self, message: &Reservation, refused: Refused) -> Reseated {
        let Reservation { id, user, unit, slot, .. } = message;
        let own = self.find(user, id.uuid);
        match own {
            Some(stored) if !stored.state.is_live() => return Reseated::AlreadyReleased,
            Some(StoredReservation { reservation, .. }) if (reservation.unit, reservation.slot) != (*unit, *slot) => {
                return Reseated::To(reservation.clone());
            }
            _ => {}
        }
        let keeps_unit = own.is_some() && refused == Refused::Slot;
        let (own, mut slot) = (own.is_some(), *slot);
        let others = self.live(user).into_iter().filter(|stored| stored.reservation.id != *id);
        let used: BTreeSet<Slot> = others.map(|stored| stored.reservation.slot).collect();
        if keeps_unit || (used.contains(&slot) && !own) {
            let limit = self.round.terms.per_user_limit;
            let others = (1..limit).map(|later| Slot((slot.0 + later) % limit));
            let Some(free) = others.into_iter().find(|other| !used.contains(other)) else {
                return Reseated::LimitReached;
            };
            slot = free;
        }
        let unit = if keeps_unit { Some(*unit) } else { self.take() };
        let Some(unit) = unit else { return Reseated::NoUnit };
        let reservation = Reservation { slot, unit, ..message.clone() };
        self.new_name = !self.records.contains_key(user);
        self.put(held(&reservation));
        Reseated::To(reservation)
    }

    pub(super) fn adopt(&mut self, order: &Reservation) -> bool {
        let Reservation { id, user, unit, .. } = order;
        let known = self.find(user, id.uuid).cloned();
        if known.as_ref().is_some_and(|stored| !stored.state.is_live()) {
            return false;
        }
        let as_ordered =
            known.is_some_and(|stored| stored.state == ReservationState::Ordered && stored.reservation.unit == *unit);
        let was_sold_out = self.free().is_empty();
        self.new_name = !self.records.contains_key(user);
        if !as_ordered {
            self.put(StoredReservation { reservation: order.clone(), state: ReservationState::Ordered });
        }
        let is_new = unit.0 >= self.next;
        if is_new {
            self.returned.extend(self.next..unit.0);
            self.next = unit.0 + 1;
            self.last = self.last.max(unit.0);
        }
        let was_free = self.returned.remove(&unit.0) || is_new;
        // A higher last unit frees nothing but the returned units before it.
        self.cooldown_if(was_sold_out && !self.returned.is_empty());
        !as_ordered || was_free
    }

    pub(super) fn restore(&mut self, units: &[Unit], seen: &Counters) -> bool {
        if (seen.moves, seen.epoch_ms) != (self.moves, self.epoch_ms) {
            return false;
        }
        let was_sold_out = self.free().is_empty();
        self.returned.extend(units.iter().map(|unit| unit.0).filter(|unit| *unit < self.next));
        self.cooldown_if(was_sold_out);
        true
    }

    pub(super) fn amend(&mut self, round: &Round) {
        if round.version <= self.round.version {
            return;
        }
        let was_sold_out = self.free().is_empty();
        self.last = self.last.max(round.terms.total);
        self.round = round.clone();
        self.cooldown_if(was_sold_out);
    }

    /// The due ones among the first `most` reservations in the outbox: all held ones, or none yet if Redis has to wait.
    pub(super) fn due(&mut self, most: usize, wait: bool) -> Vec<Reservation> {
        let mut due = Vec::new();
        for _ in 0..most.min(self.outbox.len()) {
            let (user, made_at) = self.outbox.front().expect("counted");
            let is_it = |stored: &StoredReservation| {
                stored.state == ReservationState::Held && stored.reservation.reserved_at_ms == *made_at
            };
            let held: Vec<_> = self.live(user).into_iter().filter(is_it).collect();
            if wait && !held.is_empty() {
                break;
            }
            let (user, made_at) = self.outbox.pop_front().expect("seen");
            if !held.is_empty() {
                due.extend(held.into_iter().map(|stored| stored.reservation));
                self.outbox.push_back((user, made_at));
            }
        }
        due
    }

    fn live(&self, user: &UserId) -> Vec<StoredReservation> {
        let record = self.records.get(user).into_iter().flatten();
        record.map(|(_, stored)| stored).filter(|stored| stored.state.is_live()).cloned().collect()
    }

    fn find_mut(&mut self, reservation: &Reservation) -> Option<&mut StoredReservation> {
        self.records.get_mut(&reservation.user)?.get_mut(&reservation.id.uuid)
    }

    /// Takes the lowest unit that came back, or else the next one.
    fn take(&mut self) -> Option<Unit> {
        let returned = self.returned.pop_first();
        let unit = returned.or_else(|| (self.next <= self.last).then_some(self.next))?;
        if returned.is_none() {
            self.next += 1;
        }
        Some(Unit(unit))
    }

    /// Writes a reservation in place of the released ones of its slot.
    fn put(&mut self, stored: StoredReservation) {
        let record = self.records.entry(stored.reservation.user.clone()).or_default();
        record.retain(|_, other| other.state.is_live() || other.reservation.slot != stored.reservation.slot);
        record.insert(stored.reservation.id.uuid, stored);
    }

    /// Checks that Redis matches the model.
    pub(super) fn compare(&mut self, view: &RoundView) -> Result<(), String> {
        let counters = &view.counters;
        let mut free: Vec<u32> = view.free.iter().cloned().flatten().collect();
        free.sort_unstable();
        same("free units", &free, &self.free().into_iter().collect())?;
        same("number of free units", counters.free() as usize, free.len())?;
        let returned: BTreeSet<u32> = free.into_iter().filter(|unit| *unit < counters.next_unit).collect();
        same("returned units", counters.returned as usize, self.returned.len())?;
        same("next and last unit", (counters.next_unit, counters.last_unit), (self.next, self.last))?;

        let mut reservations = view.reservations.clone();
        reservations.sort_by_key(|stored| (stored.reservation.user.clone(), stored.reservation.id.uuid));
        same("reservations", &reservations, &self.reservations())?;
        same("length of the outbox", view.outbox, self.outbox.len())?;

        let terms = &self.round.terms;
        same("limit", counters.per_user_limit, terms.per_user_limit)?;
        same("paused", counters.paused, self.round.paused)?;
        same("window", (counters.opens_at_ms, counters.closes_at_ms), (terms.opens_at_ms, terms.closes_at_ms))?;
        same("epoch", counters.epoch_ms, self.epoch_ms)?;
        if std::mem::take(&mut self.new_name) {
            let before = std::mem::replace(&mut self.last_won_at_ms, counters.last_won_at_ms);
            same("whether a new buyer counts as a later win", counters.last_won_at_ms > before, true)?;
        }
        same("last won", counters.last_won_at_ms, self.last_won_at_ms)?;
        let cooldown_began = counters.cooldown_until_ms != self.cooldown_until_ms;
        same("whether a cooldown began", cooldown_began, std::mem::take(&mut self.cooldown_began))?;
        same("unpaid limit", counters.unpaid_limit, terms.door.unpaid_limit)?;
        same("quota", (counters.quota, counters.quota_until_ms), (self.quota, self.quota_until_ms()))?;
        same("version", counters.version, self.round.version)?;
        let expires_at_ms = terms.closes_at_ms.plus_s(terms.payment_window_s).plus_s(24 * 60 * 60);
        same("expiry", counters.expires_at_ms, expires_at_ms)?;

        if counters.moves == self.moves && returned != self.returned_before {
            return Err(format!("moves is still {}, but {:?} became {returned:?}", self.moves, self.returned_before));
        }
        (self.moves, self.returned_before) = (counters.moves, returned);
        Ok(())
    }
}

fn same<T: Debug + PartialEq>(what: &str, redis: T, expected: T) -> Result<(), String> {
    if redis == expected { Ok(()) } else { Err(format!("{what}: Redis has {redis:?} but should have {expected:?}")) }
}
