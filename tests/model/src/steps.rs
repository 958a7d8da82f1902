//! What each function does: one effect at a time.

use crate::job::{After, Job, Next, Refusal, Who};
use crate::scripts::Answer;
use crate::state::State;
use crate::stored::{Guards, Order, OrderState, Seat, UNITS};
use crate::{Mistake, Protocol};

impl Protocol {
    /// Runs a job through its next effect. Meanwhile the job is not in the state's list.
    pub(crate) fn step(&self, state: &mut State, job: Job) -> After {
        match job.next {
            Next::Start => return self.start(state, job),
            Next::Place(seat) => return self.try_to_place(state, seat),
            Next::Reseat(seat, refusal) => {
                return match self.reseat(&mut state.redis, seat, refusal) {
                    (_, Some(seat)) => After::Goes(Next::Place(seat)),
                    (Answer::SoldOut, _) => self.fail(state, seat, OrderState::SoldOut, refusal),
                    (Answer::LimitReached, _) => self.fail(state, seat, OrderState::Failed, refusal),
                    (Answer::AlreadyReleased, _) => After::Goes(Next::Place(seat)),
                    _ => After::Failed,
                };
            }
            // Redis did not know of an order, but by now there may be one, even a paid one.
            Next::Fence(seat, why) if job.who == Who::Cancel => {
                return match self.fence(&mut state.ledger, seat, why) {
                    OrderState::Cancelled => After::Goes(Next::Apply(OrderState::Cancelled)),
                    OrderState::Pending => After::Goes(Next::Cancel),
                    _ => After::Done,
                };
            }
            Next::Cancel => return self.cancel_order(state, job.seat.id),
            Next::Fence(seat, why) => return After::Goes(Next::Apply(self.fence(&mut state.ledger, seat, why))),
            Next::Apply(order) => return self.apply(state, job, order),
            Next::SendExpiry => state.send(Job::new(Who::Expiry, job.seat)),
            Next::EndAfterRelease => _ = self.end(&mut state.ledger, job.seat.id, OrderState::Expired),
            Next::Release(of_another) => _ = self.release(&mut state.redis, job.seat.id, of_another),
            Next::Adopt => self.adopt_order(state, job.seat.id),
            Next::AdoptThenGo(order) => {
                self.adopt_order(state, job.seat.id);
                return self.after_applying(job, order);
            }
            Next::Restore => self.restore(&mut state.redis, job.seat.unit),
            Next::Load(taken) | Next::Open(taken) => return self.rebuild(state, job.next, &taken),
        }
        After::Done
    }

    fn start(&self, state: &mut State, job: Job) -> After {
        let id = job.seat.id;
        match job.who {
            Who::Reservation => {
                state.send(Job::new(Who::Order, job.seat));
                state.ghost.accepted[usize::from(id)] = true;
                After::Done
            }
            Who::Order if self.makes(Mistake::ConfirmFirst) => {
                self.confirm(&mut state.redis, id);
                After::Goes(Next::Place(job.seat))
            }
            Who::Order => self.try_to_place(state, job.seat),
            Who::DeadLetter if self.makes(Mistake::DeadLetterUnfenced) => {
                self.release(&mut state.redis, id, None);
                After::Done
            }
            Who::DeadLetter if self.makes(Mistake::DeadLetterGivesUp) => {
                self.fail(state, job.seat, OrderState::Failed, Refusal { unit: false, slot: false })
            }
            Who::DeadLetter => self.try_to_place(state, job.seat),
            Who::Expiry | Who::Reconciliation if self.makes(Mistake::ReleaseFirst) => {
                self.release(&mut state.redis, id, None);
                After::Goes(Next::EndAfterRelease)
            }
            Who::Expiry | Who::Reconciliation => self.end_and_apply(state, id, OrderState::Expired),
            Who::Cancel => self.start_cancel(state, job.seat),
        }
    }

    /// Reads Redis first and skips the ledger while the reservation is queued. So there may already be an order.
    fn start_cancel(&self, state: &mut State, seat: Seat) -> After {
        if !state.redis.is_held(seat.id) && state.ledger.orders[usize::from(seat.id)].is_some() {
            return self.cancel_order(state, seat.id);
        }
        if self.makes(Mistake::CancelUnfenced) {
            self.release(&mut state.redis, seat.id, None);
            return After::Done;
        }
        After::Goes(Next::Fence(seat, OrderState::Cancelled))
    }

    fn cancel_order(&self, state: &mut State, id: u8) -> After {
        match self.end_and_apply(state, id, OrderState::Cancelled) {
            apply @ After::Goes(Next::Apply(OrderState::Cancelled)) => apply,
            _ => After::Done,
        }
    }

    fn end_and_apply(&self, state: &mut State, id: u8, to: OrderState) -> After {
        self.end(&mut state.ledger, id, to).map_or(After::Failed, |order| After::Goes(Next::Apply(order)))
    }

    fn try_to_place(&self, state: &mut State, seat: Seat) -> After {
        match self.place(&mut state.ledger, seat) {
            Ok(order) => After::Goes(Next::Apply(order)),
            Err(refusal) if !refusal.unit && self.makes(Mistake::SlotTakenIsFinal) => {
                self.fail(state, seat, OrderState::Failed, refusal)
            }
            Err(refusal) => After::Goes(Next::Reseat(seat, refusal)),
        }
    }

    /// A function finds a reason why this will never be an order, and writes it in its next step.
    fn fail(&self, state: &mut State, seat: Seat, why: OrderState, refusal: Refusal) -> After {
        state.ghost.untrue[usize::from(seat.id)] |= !self.is_true(state, seat, refusal, why);
        After::Goes(Next::Fence(seat, why))
    }

    /// Whether a reservation may fail for this reason now, whatever Redis or the ledger alone would say. What the ledger has
    /// just refused counts as taken.
    ///
    /// Sold out: each unit is an order's, or Redis does not offer it. So a unit that Redis lost is only left once
    /// reconciliation restores it, for everybody. At the limit: each slot of the user is an order's, or another
    /// reservation in Redis has it.
    fn is_true(&self, state: &State, seat: Seat, refusal: Refusal, why: OrderState) -> bool {
        let State { redis, ledger, .. } = state;
        if why == OrderState::SoldOut {
            let is_left = |unit: u8| redis.free(unit) > 0 && ledger.units[usize::from(unit)].is_none();
            !(0..self.scope.units).any(|unit| is_left(unit) && !(refusal.unit && unit == seat.unit))
        } else {
            let slots = &ledger.slots[self.user(seat.id)];
            let is_free = |slot: u8| slots[usize::from(slot)].is_none() && !self.slot_is_anothers(redis, seat.id, slot);
            !(0..self.scope.limit).any(|slot| is_free(slot) && !(refusal.slot && slot == seat.slot))
        }
    }

    fn apply(&self, state: &mut State, job: Job, order: OrderState) -> After {
        let id = job.seat.id;
        match order {
            OrderState::Pending | OrderState::Paid => {
                let is_unknown = self.confirm(&mut state.redis, id) == Answer::UnknownReservation;
                if is_unknown && self.scope.repairs && !self.makes(Mistake::NoAdopt) {
                    return After::Goes(Next::AdoptThenGo(order));
                }
            }
            OrderState::Expired | OrderState::Cancelled | OrderState::Failed => {
                self.release(&mut state.redis, id, None);
            }
            OrderState::SoldOut => {
                self.release(&mut state.redis, id, state.ledger.orders[usize::from(id)].map(|order| order.unit));
            }
        }
        self.after_applying(job, order)
    }

    fn after_applying(&self, job: Job, order: OrderState) -> After {
        let sends = matches!(job.who, Who::Order | Who::DeadLetter);
        if sends && order == OrderState::Pending { After::Goes(Next::SendExpiry) } else { After::Done }
    }

    /// An order keeps its unit and slot, so the time of the read does not matter.
    fn adopt_order(&self, state: &mut State, id: u8) {
        if let Some(Order { unit, slot, .. }) = state.ledger.orders[usize::from(id)] {
            self.adopt(&mut state.redis, Seat { id, unit, slot });
        }
    }

    fn rebuild(&self, state: &mut State, next: Next, taken: &Guards) -> After {
        let (nothing, before) = ([None; UNITS], state.redis.loaded);
        match next {
            Next::Load(_) if self.makes(Mistake::SharedStaging) && !before => {
                self.stage(&mut state.redis, taken);
                return After::Goes(Next::Open(*taken));
            }
            Next::Load(_) if self.makes(Mistake::SharedStaging) => {}
            Next::Load(_) if self.makes(Mistake::RebuildIgnoresLedger) => self.load(&mut state.redis, &nothing),
            Next::Load(_) => self.load(&mut state.redis, taken),
            _ if !before => self.open(&mut state.redis, taken),
            _ => {}
        }
        if !before {
            let still = taken.iter().zip(&state.ledger.units).zip(0..);
            let offered = |unit| state.redis.free(unit) > 0;
            state.ghost.offered_taken |=
                still.into_iter().any(|((was, is), unit)| was.is_some() && was == is && offered(unit));
        }
        After::Done
    }

    /// A message whose function failed or died comes back, or goes to its dead letters.
    pub(crate) fn redelivered(&self, job: Job) -> Option<Job> {
        let job = Job { failed: job.failed + 1, next: Next::Start, ..job };
        match job.who {
            Who::Order if self.makes(Mistake::AcknowledgeFirst) => None,
            Who::Order if job.failed >= self.scope.receives => Some(Job::new(Who::DeadLetter, job.seat)),
            // It stays a dead letter until an operator redrives it, so reconciliation must cope without it.
            Who::Expiry if job.failed >= self.scope.receives => None,
            // This queue has no dead-letter queue of its own, so failures do not count.
            Who::DeadLetter => Some(Job { failed: 0, ..job }),
            Who::Order | Who::Expiry => Some(job),
            Who::Reservation | Who::Cancel | Who::Reconciliation => None,
        }
    }
}
