use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use sale::{EpochMs, HoldState, Reservation, Sale, Slot, Unit, UserId};
use stock::{Adopted, Amended, Confirmed, Counters, Hold, Released, Reseated, Reserve, Restored};
use uuid::Uuid;

/// What Redis should know of a round: a set of units, and each user's reservations.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Units that came back, or were left out by a loading.
    pub(super) returned: BTreeSet<u32>,
    /// The first unit that was never handed out.
    pub(super) next: u32,
    pub(super) last: u32,
    /// The sale as Redis heard of it last.
    pub(super) sale: Sale,
    pub(super) epoch_ms: EpochMs,
    /// When a unit was handed out last. After a loading that is when Redis was loaded, by its own clock.
    pub(super) last_won_at_ms: EpochMs,
    pub(super) records: BTreeMap<UserId, BTreeMap<Uuid, Hold>>,
    pub(super) outbox: VecDeque<(UserId, EpochMs)>,
    /// Reservations that ended unpaid.
    pub(super) unpaid: BTreeMap<UserId, u32>,
    /// Whether what is free is held back, until time passes.
    pub(super) held_back: bool,
    /// Whether the last step began to hold back.
    pub(super) holds_back: bool,
    /// Until when Redis said that it holds back.
    pub(super) sellable_at_ms: EpochMs,
    /// Whether the last step wrote down a buyer whom Redis did not know: then it says a later moment of the last win.
    pub(super) new_name: bool,
    /// The count of moves that Redis showed last: only that it changes is determined.
    pub(super) moves: u32,
    /// The returned units with which it showed that count.
    pub(super) returned_before: BTreeSet<u32>,
}

impl Model {
    pub(super) fn load(sale: Sale, epoch_ms: EpochMs, loaded: &Counters, taken: Vec<(UserId, Hold)>) -> Self {
        let units: BTreeSet<u32> = taken.iter().map(|(_, hold)| hold.unit.0).collect();
        let next = units.last().map_or(1, |unit| unit + 1);
        let mut records: BTreeMap<UserId, BTreeMap<Uuid, Hold>> = BTreeMap::new();
        for (user, hold) in taken {
            records.entry(user).or_default().insert(hold.uuid, hold);
        }
        let returned: BTreeSet<u32> = (1..next).filter(|unit| !units.contains(unit)).collect();
        Self {
            returned_before: returned.clone(),
            returned,
            next,
            last: sale.terms.total,
            sale,
            epoch_ms,
            last_won_at_ms: loaded.last_won_at_ms,
            records,
            outbox: VecDeque::new(),
            unpaid: BTreeMap::new(),
            held_back: false,
            holds_back: false,
            sellable_at_ms: loaded.sellable_at_ms,
            new_name: false,
            moves: 0,
        }
    }

    pub(super) fn free(&self) -> BTreeSet<u32> {
        self.returned.iter().copied().chain(self.next..=self.last).collect()
    }

    pub(super) fn holds(&self) -> Vec<(UserId, Hold)> {
        let of_user = |(user, record): (&UserId, &BTreeMap<Uuid, Hold>)| {
            record.values().map(|hold| (user.clone(), hold.clone())).collect::<Vec<_>>()
        };
        self.records.iter().flat_map(of_user).collect()
    }

    pub(super) fn find(&self, user: &UserId, id: Uuid) -> Option<&Hold> {
        self.records.get(user)?.get(&id)
    }

    /// `now` is the moment of the answer.
    pub(super) fn reserve(&mut self, user: &UserId, id: Uuid, now: EpochMs) -> Reserve {
        let terms = &self.sale.terms;
        // Before it opens nobody has a reservation.
        if now < terms.opens_at_ms && !self.free().is_empty() {
            return Reserve::NotOpen(terms.opens_at_ms);
        }
        if let Some(hold) = self.find(user, id) {
            return Reserve::Replayed(hold.clone());
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
        if self.sale.paused {
            return Reserve::Paused;
        }
        if self.held_back {
            return self.sold_out();
        }
        let unpaid = self.unpaid.get(user).copied().unwrap_or(0);
        if unpaid >= u32::from(terms.door.unpaid_limit) {
            return Reserve::TooManyUnpaid(unpaid);
        }
        let slot = (0..).map(Slot).find(|slot| live.iter().all(|hold| hold.slot != *slot)).expect("a slot");
        let unit = self.take().expect("a free unit");
        let hold = Hold { uuid: id, slot, state: HoldState::Held, unit, reserved_at_ms: now };
        self.put(user, hold.clone());
        self.outbox.push_back((user.clone(), now));
        self.last_won_at_ms = now;
        Reserve::Reserved(hold)
    }

    pub(super) fn confirm(&mut self, user: &UserId, id: Uuid) -> Confirmed {
        let Some(hold) = self.find_mut(user, id) else { return Confirmed::UnknownHold };
        match std::mem::replace(&mut hold.state, HoldState::Ordered) {
            HoldState::Held => Confirmed::Now,
            HoldState::Ordered => Confirmed::Before,
            HoldState::Released => {
                hold.state = HoldState::Released;
                Confirmed::AlreadyReleased
            }
        }
    }

    fn sold_out(&self) -> Reserve {
        Reserve::SoldOut { last_won_at_ms: self.last_won_at_ms, lasts: Duration::ZERO }
    }

    /// What is free once nothing was is held back.
    fn hold_back_if(&mut self, was_sold_out: bool) {
        if was_sold_out && !self.free().is_empty() {
            (self.held_back, self.holds_back) = (true, true);
        }
    }

    pub(super) fn release(&mut self, user: &UserId, id: Uuid, of_another: Option<Unit>, unpaid: bool) -> Released {
        let was_sold_out = self.free().is_empty();
        let Some(hold) = self.find_mut(user, id) else { return Released::UnknownHold };
        if !hold.state.is_live() {
            return Released::Before;
        }
        hold.state = HoldState::Released;
        let unit = hold.unit;
        if of_another != Some(unit) {
            self.returned.insert(unit.0);
        }
        if unpaid {
            *self.unpaid.entry(user.clone()).or_default() += 1;
        }
        self.hold_back_if(was_sold_out);
        Released::Now
    }

    pub(super) fn reseat(&mut self, message: &Reservation) -> Reseated {
        let Reservation { id, user, unit, slot, reserved_at_ms, .. } = message;
        let slot = match self.find(user, id.uuid) {
            Some(hold) if !hold.state.is_live() => return Reseated::AlreadyReleased,
            Some(hold) if hold.unit != *unit => return Reseated::To(hold.clone()),
            Some(hold) => hold.slot,
            None if self.live(user).iter().any(|hold| hold.slot == *slot) => return Reseated::UnknownHold,
            None => *slot,
        };
        let Some(unit) = self.take() else { return Reseated::SoldOut };
        let hold = Hold { uuid: id.uuid, slot, state: HoldState::Held, unit, reserved_at_ms: *reserved_at_ms };
        self.new_name = !self.records.contains_key(user);
        self.put(user, hold.clone());
        Reseated::To(hold)
    }

    pub(super) fn adopt(&mut self, order: &Reservation) -> Adopted {
        let Reservation { id, user, unit, slot, reserved_at_ms, .. } = order;
        let known = self.find(user, id.uuid).cloned();
        if known.as_ref().is_some_and(|hold| !hold.state.is_live()) {
            return Adopted::AlreadyReleased;
        }
        let as_ordered = known.is_some_and(|hold| hold.state == HoldState::Ordered && hold.unit == *unit);
        let was_sold_out = self.free().is_empty();
        self.new_name = !self.records.contains_key(user);
        if !as_ordered {
            let state = HoldState::Ordered;
            self.put(user, Hold { uuid: id.uuid, slot: *slot, state, unit: *unit, reserved_at_ms: *reserved_at_ms });
        }
        let is_new = unit.0 >= self.next;
        if is_new {
            self.returned.extend(self.next..unit.0);
            self.next = unit.0 + 1;
            self.last = self.last.max(unit.0);
        }
        let was_free = self.returned.remove(&unit.0) || is_new;
        // A later last unit leaves nothing new but what came before it.
        self.hold_back_if(was_sold_out && !self.returned.is_empty());
        if as_ordered && !was_free { Adopted::Before } else { Adopted::Now }
    }

    pub(super) fn restore(&mut self, units: &[Unit], seen: &Counters) -> Restored {
        if (seen.moves, seen.epoch_ms) != (self.moves, self.epoch_ms) {
            return Restored::Moved;
        }
        let was_sold_out = self.free().is_empty();
        self.returned.extend(units.iter().map(|unit| unit.0).filter(|unit| *unit < self.next));
        self.hold_back_if(was_sold_out);
        Restored::Now
    }

    pub(super) fn amend(&mut self, sale: &Sale) -> Amended {
        if sale.version <= self.sale.version {
            return Amended::Before;
        }
        let was_sold_out = self.free().is_empty();
        self.last = self.last.max(sale.terms.total);
        self.sale = sale.clone();
        self.hold_back_if(was_sold_out);
        Amended::Now
    }

    /// What is due of the first so many reservations in the outbox: all that is held, or nothing yet if Redis is to wait.
    pub(super) fn due(&mut self, most: usize, wait: bool) -> Vec<(UserId, Hold)> {
        let mut due = Vec::new();
        for _ in 0..most.min(self.outbox.len()) {
            let (user, made_at) = self.outbox.front().expect("counted");
            let is_it = |hold: &Hold| hold.state == HoldState::Held && hold.reserved_at_ms == *made_at;
            let held: Vec<_> = self.live(user).into_iter().filter(is_it).collect();
            if wait && !held.is_empty() {
                break;
            }
            let (user, made_at) = self.outbox.pop_front().expect("seen");
            if !held.is_empty() {
                due.extend(held.into_iter().map(|hold| (user.clone(), hold)));
                self.outbox.push_back((user, made_at));
            }
        }
        due
    }

    fn live(&self, user: &UserId) -> Vec<Hold> {
        let record = self.records.get(user).into_iter().flatten();
        record.map(|(_, hold)| hold).filter(|hold| hold.state.is_live()).cloned().collect()
    }

    fn find_mut(&mut self, user: &UserId, id: Uuid) -> Option<&mut Hold> {
        self.records.get_mut(user)?.get_mut(&id)
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

    /// Writes an entry in place of the released ones of its slot.
    fn put(&mut self, user: &UserId, hold: Hold) {
        let record = self.records.entry(user.clone()).or_default();
        record.retain(|_, other| other.state.is_live() || other.slot != hold.slot);
        record.insert(hold.uuid, hold);
    }
}
