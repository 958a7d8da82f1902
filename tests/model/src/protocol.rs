use stateright::{Model, Property};

use crate::job::{After, Job, Next, Who};
use crate::state::{Ghost, Left, Replica, State};
use crate::stored::{IDS, Ledger, Order, Redis, Reservation, Seat};
use crate::{Action, Mistake, Protocol, Scope, properties};

impl Protocol {
    /// Whether nothing is under way or to be reconciled. Orders and their expiry messages may still wait for payment.
    pub fn is_at_rest(&self, state: &State) -> bool {
        let is_live = |id| state.ledger.orders[usize::from(id)].is_some_and(Order::is_live);
        let waits = |job: &Job| *job == Job::new(Who::Expiry, job.seat) && is_live(job.seat.id);
        let mut repairs = Vec::new();
        state.jobs.iter().all(waits) && {
            self.repairs(state, &mut repairs);
            repairs.is_empty()
        }
    }

    fn requests(&self, state: &State, actions: &mut Vec<Action>) {
        let Left { tries, cancels, payments, crashes, .. } = state.left;
        for id in 0..self.scope.requests.len() as u8 {
            let order = state.ledger.orders[usize::from(id)];
            if tries[usize::from(id)] > 0 {
                actions.push(Action::Request(id));
                actions.extend((crashes > 0).then_some(Action::RequestAndCrash(id)));
            }
            if cancels > 0 && (order.is_some() || state.redis.is_held(id)) {
                actions.push(Action::Cancel(id));
                actions.extend((crashes > 0).then_some(Action::CancelAndCrash(id)));
            }
            if payments > 0 && order.is_some() && !state.ghost.charged[usize::from(id)] {
                actions.push(Action::Pay(id));
            }
            if self.finds_overdue(state, id) {
                actions.push(Action::Overdue(id));
            }
        }
    }

    fn work(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, job) in state.jobs.iter().enumerate() {
            if at > 0 && state.jobs[at - 1] == *job {
                continue;
            }
            // A dead letter that finds no round comes back unchanged, until the round is loaded again.
            let is_waiting = job.who == Who::DeadLetter && matches!(job.next, Next::Reseat(..)) && !state.redis.loaded;
            if !is_waiting {
                actions.push(Action::Step(*job));
            }
            if state.left.crashes > 0 && job.who != Who::Reservation {
                actions.push(Action::StepAndCrash(*job));
                if job.next == Next::Start && matches!(job.who, Who::Order | Who::Expiry) {
                    actions.push(Action::Miss(*job));
                }
            }
            if state.left.duplicates > 0 && job.who.is_message() {
                actions.push(Action::Duplicate(*job));
            }
        }
        if state.jobs.iter().filter(|job| job.who == Who::Reconciliation).count() < self.scope.reconcilers {
            self.repairs(state, actions);
        }
    }

    fn request(&self, state: &mut State, id: u8, crash: bool) -> bool {
        state.left.tries[usize::from(id)] -= 1;
        let (_, seat) = self.reserve(&mut state.redis, id);
        match seat {
            Some(seat) if state.redis.is_held(id) => {
                state.ghost.accepted[usize::from(id)] |= self.makes(Mistake::AcceptFirst);
                if !crash {
                    state.jobs.push(Job::new(Who::Reservation, seat));
                }
                true
            }
            // It has an order, or had a unit: the answer is the first one again.
            Some(_) if !crash => {
                state.ghost.accepted[usize::from(id)] = true;
                true
            }
            _ => false,
        }
    }

    fn cancel(&self, state: &mut State, id: u8, crash: bool) -> bool {
        state.left.cancels -= 1;
        self.take(state, cancellation(state, id), crash)
    }

    /// Takes a job's next step. Returns false for a crash after the last step, which is no crash.
    fn take(&self, state: &mut State, job: Job, crash: bool) -> bool {
        let after = self.step(state, job);
        if crash && !job.who.is_message() && !matches!(after, After::Goes(_)) {
            return false;
        }
        state.left.crashes -= u8::from(crash);
        state.jobs.extend(match after {
            _ if crash => self.redelivered(job),
            After::Done => None,
            After::Goes(next) => Some(job.at(next)),
            After::Failed => self.redelivered(job),
        });
        true
    }

    fn act(&self, state: &mut State, action: Action) -> bool {
        match action {
            Action::Request(id) => return self.request(state, id, false),
            Action::RequestAndCrash(id) => {
                state.left.crashes -= 1;
                return self.request(state, id, true);
            }
            Action::Cancel(id) => return self.cancel(state, id, false),
            Action::CancelAndCrash(id) => return self.cancel(state, id, true),
            Action::Pay(id) => {
                state.left.payments -= 1;
                state.ghost.charged[usize::from(id)] = true;
                state.ghost.paid[usize::from(id)] |= self.pay(&mut state.ledger, id);
            }
            Action::Step(job) => return remove(state, job) && self.take(state, job, false),
            Action::StepAndCrash(job) => return remove(state, job) && self.take(state, job, true),
            Action::Miss(job) => {
                state.left.crashes -= 1;
                remove(state, job);
                state.jobs.extend(self.redelivered(job));
            }
            Action::Duplicate(job) => {
                state.left.duplicates -= 1;
                state.jobs.extend(self.redelivered(job));
            }
            Action::Resend(id) => {
                let Some(Reservation { unit, slot, .. }) = state.redis.reservations[usize::from(id)] else {
                    return false;
                };
                state.jobs.push(Job::new(Who::Order, Seat { id, unit, slot }));
            }
            Action::Overdue(id) => state.jobs.push(Job::new(Who::Reconciliation, Seat { id, unit: 0, slot: 0 })),
            Action::Repair(job) => state.jobs.push(job),
            Action::ReplicaStops => state.replica = Some(Replica { redis: state.redis, behind: 0 }),
            Action::Failover => {
                let Some(replica) = state.replica.take() else { return false };
                state.left.failovers -= 1;
                state.redis = replica.redis;
            }
            Action::Wipe => {
                state.left.wipes -= 1;
                state.redis = Redis::default();
            }
        }
        true
    }
}

/// The job of a request to cancel. It reads unit and slot from Redis, for the fence.
pub(crate) fn cancellation(state: &State, id: u8) -> Job {
    let reservation = state.redis.reservations[usize::from(id)];
    let (unit, slot) = reservation.map_or((0, 0), |Reservation { unit, slot, .. }| (unit, slot));
    Job::new(Who::Cancel, Seat { id, unit, slot })
}

pub(crate) fn remove(state: &mut State, job: Job) -> bool {
    let at = state.jobs.iter().position(|other| *other == job);
    at.map(|at| state.jobs.remove(at)).is_some()
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Scope { requests, duplicates, crashes, cancels, payments, failovers, wipes, .. } = self.scope;
        let mut tries = [0; IDS];
        requests.iter().zip(&mut tries).for_each(|(request, tries)| *tries = request.tries);
        let left = Left { tries, duplicates, crashes, cancels, payments, failovers, wipes };
        let (redis, ledger, ghost) = (Redis::default(), Ledger::default(), Ghost::default());
        vec![State { redis, replica: None, ledger, jobs: Vec::new(), left, ghost }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.requests(state, actions);
        self.work(state, actions);
        match state.replica {
            None if state.left.failovers > 0 && state.redis.loaded => actions.push(Action::ReplicaStops),
            Some(Replica { behind: 1.., .. }) => actions.push(Action::Failover),
            _ => {}
        }
        if state.left.wipes > 0 && state.redis.loaded {
            actions.push(Action::Wipe);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        if !self.act(&mut state, action) {
            return None;
        }
        if let Some(replica) = &mut state.replica
            && state.redis != last.redis
        {
            replica.behind += 1;
            // It would lose more writes than allowed, so treat it as never stopped.
            if replica.behind > self.scope.lost_writes {
                state.replica = None;
            }
        }
        state.jobs.sort_unstable();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
