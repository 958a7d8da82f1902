//! What reconciliation finds to do. Listing and doing are separate: a listed repair waits as a job while the rest goes on.

use crate::job::{Job, Next, Who};
use crate::state::State;
use crate::stored::{Order, OrderState, ReservationState, Seat};
use crate::{Action, Mistake, Protocol};

impl Protocol {
    pub(crate) fn repairs(&self, state: &State, found: &mut Vec<Action>) {
        let State { redis, ledger, .. } = state;
        if !redis.loaded {
            found.push(Action::Repair(self.repair(0, 0, 0, Next::Load(ledger.units))));
            return;
        }
        for (reservation, id) in redis.reservations.iter().zip(0..) {
            let Some(reservation) = reservation.filter(|reservation| reservation.is_live()) else { continue };
            let order = ledger.orders[usize::from(id)];
            let guard = ledger.units[usize::from(reservation.unit)].map(|guard| guard.0);
            let release = |of_another| {
                Action::Repair(self.repair(id, reservation.unit, reservation.slot, Next::Release(of_another)))
            };
            match reservation.state {
                ReservationState::Held if order.is_none() && self.makes(Mistake::ReleaseOldReservation) => {
                    found.push(release(None))
                }
                // Even if its unit is taken: its message leads to an order or a failure.
                ReservationState::Held if !self.makes(Mistake::NoOutbox) && !self.is_sent(state, id) => {
                    found.push(Action::Resend(id));
                }
                ReservationState::Ordered if order.is_some_and(Order::is_live) && guard != Some(id) => {
                    found.extend(self.scope.repairs.then(|| self.adoption(id)).flatten());
                }
                ReservationState::Ordered if guard != Some(id) && !self.makes(Mistake::NoReleaseOfEnded) => {
                    found.push(release(guard.map(|_| reservation.unit)));
                }
                _ => {}
            }
        }
        if self.scope.repairs {
            self.repairs_of_losses(state, found);
        }
    }

    fn adoption(&self, id: u8) -> Option<Action> {
        (!self.makes(Mistake::NoAdopt)).then(|| Action::Repair(self.repair(id, 0, 0, Next::Adopt)))
    }

    fn repairs_of_losses(&self, state: &State, found: &mut Vec<Action>) {
        let redis = &state.redis;
        for unit in 0..self.scope.units {
            match state.ledger.units[usize::from(unit)] {
                Some((id, _)) => {
                    let reservation =
                        redis.reservations[usize::from(id)].filter(|reservation| reservation.unit == unit);
                    let known = reservation.is_some_and(|reservation| reservation.state == ReservationState::Ordered);
                    found.extend((!known || redis.free(unit) > 0).then(|| self.adoption(id)).flatten());
                }
                None if Self::is_nowhere(redis, unit) && !self.makes(Mistake::NoRestore) => {
                    found.push(Action::Repair(self.repair(0, unit, 0, Next::Restore)));
                }
                None => {}
            }
        }
    }

    fn repair(&self, id: u8, unit: u8, slot: u8, next: Next) -> Job {
        Job::new(Who::Reconciliation, Seat { id, unit, slot }).at(next)
    }

    /// Whether a message of the reservation is under way. The outbox waits for longer than a message usually takes; if it
    /// still sends one too many, that counts as a duplicate.
    fn is_sent(&self, state: &State, id: u8) -> bool {
        let sends = |who| matches!(who, Who::Reservation | Who::Order | Who::DeadLetter);
        state.jobs.iter().any(|job| sends(job.who) && job.seat.id == id)
    }

    /// Whether the order may be overdue while nothing is under way that will end it.
    pub(crate) fn finds_overdue(&self, state: &State, id: u8) -> bool {
        let pending = state.ledger.orders[usize::from(id)].is_some_and(|order| order.state == OrderState::Pending);
        let ends = |job: &Job| job.who == Who::Expiry || (job.who == Who::Reconciliation && job.next == Next::Start);
        let under_way = self.is_sent(state, id) || state.jobs.iter().any(|job| ends(job) && job.seat.id == id);
        pending && !under_way && !self.makes(Mistake::NoOverdue)
    }
}
