use sale::audit::{Audit, Repair, StockView, audit};
use stock::{Counters, RoundView};

use super::checked::{Checked, Outcome, Replica, Stop, wrong};
use super::model::MEMBER;
use super::orders::{Order, Orders, Placed};
use crate::prelude::*;

/// Units to try for one message in one run, as in `fulfilment::place`.
const MAX_SEATS: usize = 16;

pub(super) struct Message {
    pub(super) reservation: Reservation,
    /// Whether it was handled, so that it arrives again only by chance.
    pub(super) done: bool,
}

/// Discrepancies found in a round.
#[derive(Clone)]
pub(super) struct Listing {
    round: RoundId,
    counters: Counters,
    repairs: Vec<Repair>,
}

/// One sale with everything around Redis: the ledger, the queue, and processes with old readings.
pub(super) struct Sequence {
    pub(super) redis: Checked,
    pub(super) orders: Orders,
    pub(super) messages: Vec<Message>,
    pub(super) requests: Vec<(ReservationId, UserId)>,
    pub(super) rounds: BTreeMap<RoundId, Vec<Round>>,
    pub(super) patient: bool,
    pub(super) died: bool,
    /// A reservation that another process is about to reseat.
    pub(super) stalled: Option<(Reservation, Refused)>,
    pub(super) replica: Option<Replica>,
    pub(super) reading: Option<(Round, Vec<Reservation>)>,
    pub(super) listing: Option<Listing>,
}

impl Sequence {
    pub(super) fn new(redis: Checked, first: Round, patient: bool) -> Self {
        Self {
            redis,
            orders: Orders::default(),
            messages: Vec::new(),
            requests: Vec::new(),
            rounds: [(first.id.clone(), vec![first])].into(),
            patient,
            died: false,
            stalled: None,
            replica: None,
            reading: None,
            listing: None,
        }
    }

    pub(super) fn current(&self, round: &RoundId) -> &Round {
        self.rounds[round].last().expect("every round has a version")
    }

    pub(super) fn round(&self) -> RoundId {
        self.rounds.keys().next_back().expect("there is a round").clone()
    }

    pub(super) fn send(&mut self, reservation: Reservation) {
        self.messages.push(Message { reservation, done: false });
    }

    pub(super) fn update(&mut self, round: &RoundId, change: impl FnOnce(&mut Round)) -> Round {
        let mut changed = self.current(round).clone();
        changed.version += 1;
        change(&mut changed);
        self.rounds.entry(round.clone()).or_default().push(changed.clone());
        changed
    }

    pub(super) async fn request(&mut self, user: &UserId, sent: bool) -> Outcome<Reserve> {
        let id = fresh_id(&self.round());
        self.requests.push((id.clone(), user.clone()));
        self.reserve(&id, user, sent).await
    }

    pub(super) async fn reserve(&mut self, id: &ReservationId, user: &UserId, sent: bool) -> Outcome<Reserve> {
        let answer = self.redis.reserve(id, user).await?;
        if let Reserve::Reserved(reservation)
        | Reserve::Replayed(StoredReservation { reservation, state: ReservationState::Held }) = &answer
            && sent
        {
            self.send(reservation.clone());
        }
        Ok(answer)
    }

    /// A process handles a message and may die before its call to Redis number `dies_at`.
    pub(super) async fn deliver(&mut self, message: usize, dies_at: Option<usize>) -> Outcome {
        let reservation = self.messages[message].reservation.clone();
        self.redis.calls_left = dies_at;
        let done = self.place(&reservation, None).await;
        let done = self.survive(done)?.unwrap_or(false);
        self.messages[message].done |= done;
        Ok(())
    }

    /// Continues after the death of a process, but not after other errors.
    pub(super) fn survive<T>(&mut self, outcome: Outcome<T>) -> Outcome<Option<T>> {
        self.redis.calls_left = None;
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Died) => {
                self.redis.trace.push("    dies".into());
                self.died = true;
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Returns whether the message is handled. Does not ask the ledger again for what is `known` to be refused.
    async fn place(&mut self, message: &Reservation, mut known: Option<Refused>) -> Outcome<bool> {
        let mut reservation = message.clone();
        for _ in 0..MAX_SEATS {
            let refused = match known.take() {
                Some(refused) => refused,
                None => match self.orders.place(&reservation) {
                    Placed::As(order) => return self.apply(&order).await.map(|()| true),
                    Placed::SlotTaken => Refused::Slot,
                    Placed::UnitTaken => Refused::Unit,
                },
            };
            self.stalled = Some((reservation.clone(), refused));
            match self.redis.reseat(&reservation, refused).await? {
                Reseated::LimitReached => return self.fail(&reservation, Failure::LimitReached).await.map(|()| true),
                Reseated::To(Reservation { unit, slot, .. }) => (reservation.unit, reservation.slot) = (unit, slot),
                Reseated::NoUnit => return self.fail(&reservation, Failure::SoldOut).await.map(|()| true),
                Reseated::AlreadyReleased if self.orders.get(&reservation.id).is_some() => {}
                Reseated::AlreadyReleased => return wrong("released without the ledger's word"),
                Reseated::UnknownSale => break,
            }
        }
        Ok(false)
    }

    /// A second process that also found the unit of the same message taken goes on.
    pub(super) async fn go_on(&mut self) -> Outcome {
        let Some((reservation, refused)) = self.stalled.clone() else { return Ok(()) };
        self.place(&reservation, Some(refused)).await.map(drop)
    }

    async fn fail(&mut self, reservation: &Reservation, why: Failure) -> Outcome {
        let order = self.orders.fence(reservation, OrderState::Failed, Some(why));
        self.apply(&order).await
    }

    /// Brings Redis in line with an order's state.
    pub(super) async fn apply(&mut self, order: &Order) -> Outcome {
        let Order { reservation, state, failure, .. } = order;
        if state.is_live() {
            if !self.redis.confirm(reservation).await? {
                self.redis.adopt(reservation).await?;
            }
        } else {
            let of_another = (*failure == Some(Failure::SoldOut)).then_some(reservation.unit);
            self.redis.release(reservation, of_another, is_unpaid(*state)).await?;
        }
        Ok(())
    }

    fn held(&self, id: &ReservationId, user: &UserId) -> Option<Reservation> {
        let stored = self.redis.models.get(&id.round)?.find(user, id.uuid)?;
        (stored.state == ReservationState::Held).then(|| stored.reservation.clone())
    }

    pub(super) async fn give_up(&mut self, id: &ReservationId, user: &UserId) -> Outcome {
        let Some(reservation) = self.held(id, user) else { return Ok(()) };
        self.fail(&reservation, Failure::SoldOut).await
    }

    pub(super) async fn cancel(&mut self, id: &ReservationId, user: &UserId) -> Outcome {
        let order = match (self.orders.get(id), self.held(id, user)) {
            (Some(_), _) => self.orders.step(id, OrderState::Cancelled),
            (None, Some(reservation)) => self.orders.fence(&reservation, OrderState::Cancelled, None),
            (None, None) => return Ok(()),
        };
        if order.state == OrderState::Cancelled { self.apply(&order).await } else { Ok(()) }
    }

    pub(super) async fn load(&mut self, round: &RoundId) -> Outcome {
        let (current, taken) = (self.current(round).clone(), self.orders.taken(round));
        self.redis.load(&current, taken).await.map(drop)
    }

    pub(super) async fn audit(&self, round: &RoundId) -> Outcome<Option<(Audit, Counters)>> {
        let Some(view) = self.redis.view(round).await? else { return Ok(None) };
        let RoundView { counters, free, reservations, .. } = view;
        let stock = StockView { free, reservations };
        Ok(Some((audit(counters.total(), &stock, &self.orders.to_audit(round)), counters)))
    }

    pub(super) async fn list(&self, round: &RoundId) -> Outcome<Option<Listing>> {
        let audit = self.audit(round).await?;
        Ok(audit.map(|(Audit { repairs, .. }, counters)| Listing { round: round.clone(), counters, repairs }))
    }

    pub(super) async fn reconcile(&mut self, round: &RoundId) -> Outcome {
        let Some(listing) = self.list(round).await? else { return Ok(()) };
        self.repair(listing).await
    }

    pub(super) async fn repair(&mut self, Listing { round, counters, repairs }: Listing) -> Outcome {
        for repair in repairs {
            match repair {
                Repair::Restore { mut units } => {
                    units.retain(|unit| self.orders.owner_of(&round, *unit).is_none());
                    self.redis.restore(&round, &units, &counters).await?;
                }
                Repair::Adopt { id } => match self.orders.get(&id).cloned() {
                    Some(order) if order.state.is_live() => drop(self.redis.adopt(&order.reservation).await?),
                    Some(order) => self.apply(&order).await?,
                    None => {}
                },
                Repair::Release { id, unit } => match self.orders.get(&id).cloned() {
                    Some(order) if order.state.is_live() => drop(self.redis.adopt(&order.reservation).await?),
                    Some(Order { reservation, state, .. }) => {
                        let of_another = self.orders.owner_of(&round, unit).map(|_| unit);
                        self.redis.release(&reservation, of_another, is_unpaid(state)).await?;
                    }
                    None => {}
                },
                Repair::Rebuild {} => self.load(&round).await?,
                Repair::Exclude { units } => return wrong(format!("{units:?} in two of one lane")),
            }
        }
        Ok(())
    }
}

/// Whether an order of this state ended because its user cancelled or did not pay.
fn is_unpaid(state: OrderState) -> bool {
    matches!(state, OrderState::Expired | OrderState::Cancelled)
}

/// The first version of a round. Half of the rounds have a members' quota, for half an hour from the opening.
pub(super) fn first_round(id: RoundId, total: u32, per_user_limit: u8) -> Round {
    let mut terms = tests::terms(total, per_user_limit);
    if total.is_multiple_of(2) {
        let (group, quota) = ("members".parse().expect("a name"), MemberQuota { units: total / 2, for_s: 1800 });
        terms.early_access = vec![EarlyAccess { group, lead_s: MEMBER.lead_s, quota: Some(quota) }];
    }
    // Low, so that users reach it.
    terms.door.unpaid_limit = 2;
    Round::new(id, terms)
}

/// Sets the window of a round: it opens `after_s` after `now`, for an hour.
pub(super) fn open_from(round: &mut Round, now: EpochMs, after_s: i64) {
    round.terms.opens_at_ms = EpochMs(now.0 + after_s * 1000);
    round.terms.closes_at_ms = round.terms.opens_at_ms.plus_s(3600);
}
