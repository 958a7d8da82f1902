//! The steps of the model that explain one record.

use std::collections::BTreeMap;

use stateright::Model;

use super::effect::Effect;
use super::record::{Function, How, Record, What};
use crate::job::{After, Job, Next, Who};
use crate::protocol::cancellation;
use crate::scripts::Answer;
use crate::state::State;
use crate::stored::{OrderState, Redis, Seat};
use crate::{Action, Protocol};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stand {
    Fresh, // It has done nothing yet that is a job in the model.
    At(Job),
    Finished,
    Gone, // Its process is dead, or has given up.
}

/// Runs that have begun and not ended.
pub(super) type Runs = BTreeMap<u32, Stand>;

/// What is known in advance about a record's run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunFacts {
    pub(super) function: Function,
    pub(super) id: Option<u8>,
    pub(super) fails: bool,  // Whether it dies or gives up.
    pub(super) later: usize, // How many later runs handle the same message.
}

#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) actions: Vec<Action>,
    pub(super) state: State,
    pub(super) runs: Runs,
}

pub(super) struct Finder<'a> {
    pub(super) protocol: &'a Protocol,
    pub(super) state: &'a State,
    pub(super) runs: &'a Runs,
    pub(super) moves: Vec<Move>,
    pub(super) reasons: Vec<String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(protocol: &'a Protocol, state: &'a State, runs: &'a Runs) -> Self {
        Self { protocol, state, runs, moves: Vec::new(), reasons: Vec::new() }
    }

    pub(super) fn look(&mut self, record: &Record, known: Option<RunFacts>) {
        match (&record.what, known) {
            (What::Begins { .. }, Some(known)) => self.begin(record.run, known),
            (What::Does { effect, redis }, Some(known)) => self.does(record.run, known, effect, redis.as_ref()),
            (What::Ends { how }, Some(known)) => self.end(record.run, known, *how),
            (What::Loses {}, _) if !self.state.redis.loaded => self.nothing_happens(record.run, None),
            (What::Loses {}, _) => self.world(Action::Wipe),
            (What::Saves {}, _) => self.world(Action::ReplicaStops),
            (What::FailsOver {}, _) => self.world(Action::Failover),
            (What::Holds { redis, ledger }, _) => {
                if (redis, &**ledger) == (&self.state.redis, &self.state.ledger) {
                    self.nothing_happens(record.run, None);
                } else {
                    let State { redis, ledger, .. } = self.state;
                    self.reasons.push(format!("the model has {redis:?} and {ledger:?}"));
                }
            }
            (_, None) => self.reasons.push("its run has not begun".to_owned()),
        }
    }

    fn act(&self, state: &State, action: Action) -> Option<State> {
        let mut offered = Vec::new();
        self.protocol.actions(state, &mut offered);
        offered.contains(&action).then(|| self.protocol.next_state(state, action))?
    }

    /// Accepts a move if the model's Redis then matches the recorded one.
    fn note(&mut self, actions: Vec<Action>, state: State, redis: Option<&Redis>, run: u32, stand: Option<Stand>) {
        if redis.is_some_and(|redis| *redis != state.redis) {
            return self.reasons.push(format!("the model's Redis after it is {:?}", state.redis));
        }
        let mut runs = self.runs.clone();
        if let Some(stand) = stand {
            runs.insert(run, stand);
        }
        self.moves.push(Move { actions, state, runs });
    }

    /// The record is fine but is no step of the model.
    fn nothing_happens(&mut self, run: u32, stand: Option<Stand>) {
        self.note(Vec::new(), self.state.clone(), None, run, stand);
    }

    fn world(&mut self, action: Action) {
        match self.act(self.state, action) {
            Some(state) => self.note(vec![action], state, None, 0, None),
            None => self.reasons.push(format!("the model has no {action:?} here")),
        }
    }

    /// A run takes a waiting message, or a second delivery.
    fn begin(&mut self, run: u32, known: RunFacts) {
        let who = match known.function {
            Function::Order => Who::Order,
            Function::DeadLetter => Who::DeadLetter,
            Function::Expiry => Who::Expiry,
            _ => return self.nothing_happens(run, Some(Stand::Fresh)),
        };
        let is_its = |job: &&Job| job.who == who && Some(job.seat.id) == known.id;
        let at_work = |job: &Job| self.runs.values().filter(|stand| **stand == Stand::At(*job)).count();
        let jobs = || self.state.jobs.iter().filter(is_its);
        let waits = |job: &&Job| job.next == Next::Start && jobs().filter(|other| other == job).count() > at_work(job);
        let mut found: Vec<Job> = jobs().filter(waits).copied().collect();
        found.dedup();
        for job in &found {
            self.nothing_happens(run, Some(Stand::At(*job)));
            if known.later > 0 {
                self.attempt(Action::Duplicate(*job), None, run, Some(Stand::At(*job)));
            }
        }
        let mut others: Vec<Job> = if found.is_empty() { jobs().copied().collect() } else { Vec::new() };
        others.dedup();
        for job in others {
            if let Some(again) = self.protocol.redelivered(job) {
                self.attempt(Action::Duplicate(job), None, run, Some(Stand::At(again)));
            }
        }
        if self.moves.is_empty() {
            self.reasons.push(format!("no message of R{} waits for {who:?}", known.id.unwrap_or_default()));
        }
    }

    fn end(&mut self, run: u32, known: RunFacts, how: How) {
        let stand = self.runs.get(&run).copied().unwrap_or(Stand::Gone);
        let is_message = matches!(known.function, Function::Order | Function::DeadLetter | Function::Expiry);
        let gone = |finder: &mut Self, actions, state| {
            let mut runs = finder.runs.clone();
            runs.remove(&run);
            finder.moves.push(Move { actions, state, runs });
        };
        match (stand, how) {
            (Stand::Finished, How::Done) | (Stand::Gone, How::Failed | How::Died) => {
                gone(self, Vec::new(), self.state.clone());
            }
            (Stand::Fresh | Stand::Finished, _) if !is_message => gone(self, Vec::new(), self.state.clone()),
            (Stand::At(job), How::Failed | How::Died) if is_message && job.next == Next::Start => {
                match self.act(self.state, Action::Miss(job)) {
                    Some(state) => gone(self, vec![Action::Miss(job)], state),
                    // A dead letter comes back unchanged.
                    None if job.who == Who::DeadLetter => gone(self, Vec::new(), self.state.clone()),
                    None => {}
                }
            }
            (Stand::At(job), How::Done) => {
                let would = self.would(job);
                self.reasons.push(format!("run {run} is not at its end: {would}"));
            }
            _ => {}
        }
        if self.moves.is_empty() && self.reasons.is_empty() {
            self.reasons.push(format!("run {run} is at {stand:?}"));
        }
    }

    fn would(&self, job: Job) -> String {
        let (sights, _) = self.protocol.sights(self.state, job);
        let sights: Vec<String> = sights.iter().map(|sight| format!("{sight:?}")).collect();
        format!("the model would do {}", sights.join(" or "))
    }

    fn does(&mut self, run: u32, known: RunFacts, effect: &Effect, redis: Option<&Redis>) {
        let Some(stand) = self.runs.get(&run).copied() else {
            return self.reasons.push(format!("run {run} has not begun"));
        };
        if self.is_so(effect, known) && redis.is_none_or(|redis| *redis == self.state.redis) {
            self.nothing_happens(run, None);
        }
        match (stand, known.function) {
            (Stand::At(job), _) => self.step(run, known, job, Action::Step(job), effect, redis),
            (_, Function::Reconciliation) => self.reconcile(run, known, effect, redis),
            (Stand::Fresh, Function::Reservation) => match effect {
                Effect::Reserve { id, .. } => self.reserve(run, known, *id, effect, redis),
                Effect::SendOrder { seat } => self.send_again(run, seat.id),
                _ => {}
            },
            (Stand::Fresh, Function::Cancel) => self.cancel(run, known, effect, redis),
            (Stand::Fresh, Function::Payment) => self.pay(run, effect),
            _ => {}
        }
        if self.moves.is_empty() && self.reasons.is_empty() {
            self.reasons.push(format!("run {run} of {:?} has no step that looks like this", known.function));
        }
    }

    /// Whether an effect with this answer is right and changes nothing in the model.
    fn is_so(&self, effect: &Effect, known: RunFacts) -> bool {
        let State { redis, ledger, .. } = self.state;
        let state = |id: &u8| ledger.orders.get(usize::from(*id)).and_then(|order| order.map(|order| order.state));
        let repairs = known.function == Function::Reconciliation;
        match effect {
            Effect::ReadOrder { id, found } => state(id) == *found,
            Effect::ReadUnit { unit, found } => ledger.units[usize::from(*unit)].map(|guard| guard.0) == *found,
            // The model has no time.
            Effect::Reserve { answer: Answer::InCooldown, .. } => redis.loaded,
            Effect::Reserve { id, answer, .. } => self.protocol.reserve(&mut redis.clone(), *id) == (*answer, None),
            // A repeated callback, or one that is too late, which another write notes.
            Effect::Pay { id, taken: false } => state(id) != Some(OrderState::Pending),
            Effect::Refund { id } => ledger.refunds[usize::from(*id)],
            // Sent after a late payment, to correct the count of unpaid orders. The model has no such count.
            Effect::SendExpiry { id } => known.function == Function::Payment && ledger.refunds[usize::from(*id)],
            // A repair that finds nothing left to do.
            Effect::Release { id, of_another, answer: Answer::UnknownReservation | Answer::AlreadyReleased }
                if repairs =>
            {
                self.protocol.releasing(redis, *id, *of_another) == *effect
            }
            Effect::Adopt { seat, answer } if repairs && *answer != Answer::Adopted => {
                self.protocol.adopting(redis, *seat) == *effect
            }
            Effect::Restore { answer: Answer::Moved, .. } => repairs && redis.loaded,
            Effect::Restore { answer: Answer::UnknownSale, .. } => repairs && !redis.loaded,
            Effect::Load { taken: None, answer: Answer::Present } => repairs && redis.loaded,
            _ => false,
        }
    }

    /// A step of a job, possibly the last one before its process dies.
    fn step(&mut self, run: u32, known: RunFacts, job: Job, step: Action, effect: &Effect, redis: Option<&Redis>) {
        let (sights, after) = self.protocol.sights(self.state, job);
        if !sights.contains(effect) {
            if self.moves.is_empty() {
                self.reasons.push(self.would(job));
            }
            return;
        }
        let crashing = match step {
            Action::Cancel(id) => Action::CancelAndCrash(id),
            _ => Action::StepAndCrash(job),
        };
        let goes = match after {
            After::Done => Stand::Finished,
            After::Goes(next) => Stand::At(job.at(next)),
            After::Failed => Stand::Gone,
        };
        // Reconciliation works on several jobs at once, which stay in the model's state.
        let is_own = known.function != Function::Reconciliation;
        self.attempt(step, redis, run, is_own.then_some(goes));
        if known.fails {
            self.attempt(crashing, redis, run, is_own.then_some(Stand::Gone));
        }
    }

    /// Takes a step if the model offers it, and its Redis then matches the recorded one.
    fn attempt(&mut self, action: Action, redis: Option<&Redis>, run: u32, stand: Option<Stand>) {
        if let Some(state) = self.act(self.state, action) {
            self.note(vec![action], state, redis, run, stand);
        }
    }

    fn reserve(&mut self, run: u32, known: RunFacts, id: u8, effect: &Effect, redis: Option<&Redis>) {
        let mut after = self.state.redis;
        let (answer, seat) = self.protocol.reserve(&mut after, id);
        let expected = Effect::Reserve { id, answer, seat };
        if expected != *effect {
            if self.moves.is_empty() {
                self.reasons.push(format!("the model would do {expected:?}"));
            }
            return;
        }
        let Some(seat) = seat else { return self.reasons.push("the model's Redis refuses it".to_owned()) };
        let stand = if after.is_held(id) { Stand::At(Job::new(Who::Reservation, seat)) } else { Stand::Finished };
        self.attempt(Action::Request(id), redis, run, Some(stand));
        if known.fails {
            self.attempt(Action::RequestAndCrash(id), redis, run, Some(Stand::Gone));
        }
    }

    /// The outbox sends a reservation again. If its message is still under way, this is a duplicate.
    fn send_again(&mut self, run: u32, id: u8) {
        let sends = |job: &&Job| job.seat.id == id && matches!(job.who, Who::Order | Who::DeadLetter);
        let under_way = self.state.jobs.iter().filter(sends).map(|job| Action::Duplicate(*job));
        let actions: Vec<Action> = [Action::Resend(id)].into_iter().chain(under_way).collect();
        for action in actions {
            self.attempt(action, None, run, None);
        }
        if self.moves.is_empty() {
            self.reasons.push(format!("R{id} is not held, and no message of it is under way"));
        }
    }

    fn cancel(&mut self, run: u32, known: RunFacts, effect: &Effect, redis: Option<&Redis>) {
        let Some(id) = known.id else { return };
        self.step(run, known, cancellation(self.state, id), Action::Cancel(id), effect, redis);
    }

    fn pay(&mut self, run: u32, effect: &Effect) {
        let (id, wanted) = match effect {
            Effect::Pay { id, taken: true } => (*id, true),
            Effect::Refund { id } => (*id, false),
            _ => return,
        };
        let is_pending = |order: crate::Order| order.state == OrderState::Pending;
        if self.state.ledger.orders[usize::from(id)].is_some_and(is_pending) != wanted {
            return self.reasons.push("the model's order is not in a state for it".to_owned());
        }
        self.attempt(Action::Pay(id), None, run, Some(Stand::Finished));
    }

    fn reconcile(&mut self, run: u32, known: RunFacts, effect: &Effect, redis: Option<&Redis>) {
        match effect {
            Effect::SendOrder { seat: Seat { id, .. } } => return self.send_again(run, *id),
            Effect::Restore { units, answer: Answer::Restored } => return self.restore(run, units, redis),
            _ => {}
        }
        let mut jobs: Vec<Job> = self.state.jobs.iter().filter(|job| job.who == Who::Reconciliation).copied().collect();
        jobs.dedup();
        for job in jobs {
            self.step(run, known, job, Action::Step(job), effect, redis);
        }
    }

    /// The script gives back several units in one step, the model one per step.
    fn restore(&mut self, run: u32, units: &[u8], redis: Option<&Redis>) {
        let (mut state, mut actions) = (self.state.clone(), Vec::new());
        for unit in units {
            let is_its = |job: &&Job| job.next == Next::Restore && job.seat.unit == *unit;
            let Some(job) = state.jobs.iter().find(is_its).copied() else {
                return self.reasons.push(format!("no repair in the model restores unit {unit}"));
            };
            let Some(after) = self.act(&state, Action::Step(job)) else { return };
            state = after;
            actions.push(Action::Step(job));
        }
        self.note(actions, state, redis, run, None);
    }
}
