//! A sale in memory with overlapping requests: answers that a correct system may give, in random schedules.
//!
//! Each request takes effect at one moment between its call and its return. Orders, expiry and the return of units come some time
//! after their cause, as in the real system, and Redis may forget reservations without an order.

use std::collections::{BTreeMap, BTreeSet};

use history::{
    Answer, Clocks, History, LedgerReading, Name, Operation, Order, PaymentOutcome, Question, Redis, Refusal, Round,
    Status,
};

use crate::dice::Dice;
use crate::story::{self, ROUND};

const MS: u64 = 1_000_000;
const COOLDOWN_MS: u64 = 3;
const ZERO_MS: i64 = 1_795_510_800_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) clients: usize,
    pub(crate) requests_each: usize,
    pub(crate) units: u32,
    pub(crate) limit: usize,
    pub(crate) forgets: bool,
    /// Whether the history includes the ledger.
    pub(crate) reads_ledger: bool,
    pub(crate) compares_clocks: bool,
}

impl Plan {
    pub(crate) fn random(dice: &mut Dice) -> Self {
        Self {
            clients: 1 + dice.below(6) as usize,
            requests_each: 1 + dice.below(11) as usize,
            units: 1 + dice.below(6) as u32,
            limit: 1 + dice.below(2) as usize,
            forgets: dice.one_in(3),
            reads_ledger: !dice.one_in(3),
            compares_clocks: dice.one_in(2),
        }
    }
}

enum Event {
    Call { client: usize },
    Effect { client: usize, operation: Operation, is_unheard: bool },
    Return { client: usize, operation: Operation, is_unheard: bool },
    Ordered { reservation: usize },
    Expires { reservation: usize },
    Back { reservation: usize },
    Forgets,
}

struct Reservation {
    /// Its order, or what that will be.
    order: Order,
    client: usize,
    key: Name,
    paid_with: Option<Name>,
    /// Whether Redis knows it and has not taken its unit back.
    in_redis: bool,
}

struct Simulator {
    plan: Plan,
    dice: Dice,
    history: History,
    /// By their moments, and the order of their planning.
    events: BTreeMap<(u64, u64), Event>,
    next: u64,
    free: BTreeSet<u32>,
    cooldown_until: u64,
    reservations: Vec<Reservation>,
    left: Vec<usize>,
    forgot_at: Option<u64>,
}

pub(crate) fn simulated(plan: Plan, seed: u64) -> History {
    let mut simulator = Simulator {
        plan,
        dice: Dice::new(seed),
        history: History::default(),
        events: BTreeMap::new(),
        next: 0,
        free: (1..=plan.units).collect(),
        cooldown_until: 0,
        reservations: Vec::new(),
        left: vec![plan.requests_each; plan.clients],
        forgot_at: None,
    };
    for client in 0..plan.clients {
        simulator.after(0, 20, Event::Call { client });
    }
    if plan.forgets {
        simulator.after(0, 60, Event::Forgets);
    }
    let mut now = 0;
    while let Some(((at, _), event)) = simulator.events.pop_first() {
        now = at;
        simulator.handle(at, event);
    }
    simulator.finished(now + MS)
}

impl Simulator {
    /// Schedules an event up to `within_ms` after `now`, never at the same moment as another.
    fn after(&mut self, now: u64, within_ms: u64, event: Event) {
        self.next += 1;
        let at = now + 1 + self.dice.below(within_ms * MS);
        self.events.insert((at, self.next), event);
    }

    fn handle(&mut self, now: u64, event: Event) {
        match event {
            Event::Call { client } => self.call(now, client),
            Event::Effect { client, operation, is_unheard } => {
                let answer = self.effect(now, client, operation.question);
                self.after(now, 3, Event::Return { client, operation: Operation { answer, ..operation }, is_unheard });
            }
            Event::Return { client, operation, is_unheard } => {
                let (return_ns, answer) =
                    if is_unheard { (None, Answer::Unknown) } else { (Some(now), operation.answer) };
                self.history.operations.push(Operation { return_ns, answer, ..operation });
                self.after(now, 8, Event::Call { client });
            }
            Event::Ordered { reservation } => self.ordered(now, reservation),
            Event::Expires { reservation } => {
                if self.reservations[reservation].order.status == Status::PendingPayment {
                    self.end(now, reservation, Status::Expired);
                    self.after(now, 10, Event::Back { reservation });
                }
            }
            Event::Back { reservation } => self.back(now, reservation),
            Event::Forgets => {
                self.forgot_at = Some(now);
                for reservation in 0..self.reservations.len() {
                    let Reservation { order: Order { status, unit, .. }, in_redis, .. } =
                        self.reservations[reservation];
                    if status == Status::Queued && in_redis && self.dice.one_in(2) {
                        self.reservations[reservation].in_redis = false;
                        self.free.insert(unit);
                    }
                }
            }
        }
    }

    fn call(&mut self, now: u64, client: usize) {
        if self.left[client] == 0 {
            return;
        }
        self.left[client] -= 1;
        let own = self.reservations.iter().filter(|one| one.client == client);
        let own: Vec<Name> = own.map(|one| one.order.reservation).collect();
        let keys = 1 + self.plan.limit as u64;
        let question = match (self.dice.below(10), self.dice.one_of(&own)) {
            (0..=2, Some(reservation)) => Question::Look { reservation },
            (3, Some(reservation)) => Question::Cancel { reservation },
            (4..=5, Some(reservation)) => {
                let payment = Name::of(&format!("pay {} {client}", self.dice.below(2)));
                Question::Pay { reservation, payment }
            }
            _ => Question::Reserve { key: Some(Name::of(&format!("key-{}", self.dice.below(keys)))) },
        };
        let (round, user) = (Name::of(ROUND), Name::of(&format!("user-{client}")));
        let operation = Operation { round, user, question, call_ns: now, return_ns: None, answer: Answer::Unknown };
        let is_unheard = self.dice.one_in(12);
        if is_unheard && self.dice.one_in(2) {
            // The request is lost, and its client gives up.
            return self.after(now, 6, Event::Return { client, operation, is_unheard });
        }
        self.after(now, 3, Event::Effect { client, operation, is_unheard });
    }

    fn effect(&mut self, now: u64, client: usize, question: Question) -> Answer {
        let named = |of: &Self, name| of.reservations.iter().position(|one| one.order.reservation == name);
        match question {
            Question::Reserve { key } => self.reserve(now, client, key.expect("every request has a key")),
            Question::Look { reservation } => match named(self, reservation) {
                Some(at) if self.is_known(at) => self.shown(at),
                _ => Answer::Unknown,
            },
            Question::Cancel { reservation } => match named(self, reservation) {
                Some(at) if self.is_known(at) => {
                    if matches!(self.reservations[at].order.status, Status::Queued | Status::PendingPayment) {
                        self.end(now, at, Status::Cancelled);
                        self.back(now, at);
                    }
                    self.shown(at)
                }
                _ => Answer::Unknown,
            },
            Question::Pay { reservation, payment } => match named(self, reservation) {
                Some(at) if self.reservations[at].order.status != Status::Queued => {
                    if self.reservations[at].order.status == Status::PendingPayment && payment_is_right(payment) {
                        self.end(now, at, Status::Paid);
                        self.reservations[at].paid_with = Some(payment);
                    }
                    let is_applied = self.reservations[at].paid_with == Some(payment);
                    Answer::Payment(if is_applied { PaymentOutcome::Applied } else { PaymentOutcome::RefundDue })
                }
                _ => Answer::Refused(Refusal::Other),
            },
        }
    }

    /// Whether Redis or the ledger has it.
    fn is_known(&self, at: usize) -> bool {
        self.reservations[at].in_redis || self.reservations[at].order.status != Status::Queued
    }

    fn shown(&self, at: usize) -> Answer {
        let Order { status, unit, .. } = self.reservations[at].order;
        Answer::Is { status, unit: unit.try_into().ok() }
    }

    fn reserve(&mut self, now: u64, client: usize, key: Name) -> Answer {
        let own = self.reservations.iter().enumerate().filter(|(_, one)| one.client == client);
        let known = own.clone().find(|(_, one)| one.key == key);
        if let Some((at, known)) = known {
            let reservation = known.order.reservation;
            if self.is_known(at) {
                return Answer::Accepted { reservation, unit: None };
            }
            // Redis forgot it, so it gets a unit again: the message of the first time is still under way.
            return match self.take(now) {
                Some(unit) => {
                    (self.reservations[at].in_redis, self.reservations[at].order.unit) = (true, unit);
                    Answer::Accepted { reservation, unit: None }
                }
                None => Answer::Refused(Refusal::SoldOut),
            };
        }
        let live = own.filter(|(_, one)| one.in_redis).count();
        if live >= self.plan.limit {
            return Answer::Refused(Refusal::LimitReached);
        }
        let Some(unit) = self.take(now) else { return Answer::Refused(Refusal::SoldOut) };
        let reservation = Name::of(&format!("{ROUND}.{}", self.reservations.len()));
        let (round, user, status) = (Name::of(ROUND), Name::of(&format!("user-{client}")), Status::Queued);
        let (reason, reserved_ms, ended_ms) = (None, Some(wall_ms(now)), None);
        let order = Order { round, reservation, user, unit, status, reason, reserved_ms, ended_ms };
        self.reservations.push(Reservation { order, client, key, paid_with: None, in_redis: true });
        self.after(now, 30, Event::Ordered { reservation: self.reservations.len() - 1 });
        Answer::Accepted { reservation, unit: None }
    }

    fn take(&mut self, now: u64) -> Option<u32> {
        if now < self.cooldown_until { None } else { self.free.pop_first() }
    }

    /// The ledger gives no unit to two live orders.
    fn ordered(&mut self, now: u64, at: usize) {
        let Reservation { order: Order { status, mut unit, .. }, client, .. } = self.reservations[at];
        if status != Status::Queued {
            return;
        }
        let others = self.reservations.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one);
        let live: Vec<(usize, u32)> =
            others.filter(|one| one.order.status.is_ordered()).map(|one| (one.client, one.order.unit)).collect();
        while live.iter().any(|(_, taken)| *taken == unit) {
            let Some(other) = self.free.pop_first() else { return self.fail(now, at, "sold_out") };
            unit = other;
        }
        if live.iter().filter(|(of, _)| *of == client).count() >= self.plan.limit {
            self.reservations[at].order.unit = unit;
            return self.fail(now, at, "limit_reached");
        }
        self.free.remove(&unit);
        let one = &mut self.reservations[at];
        (one.order.unit, one.order.status, one.in_redis) = (unit, Status::PendingPayment, true);
        self.after(now, 400, Event::Expires { reservation: at });
    }

    fn fail(&mut self, now: u64, at: usize, why: &str) {
        self.reservations[at].order.reason = Some(Name::of(why));
        self.end(now, at, Status::Failed);
        self.reservations[at].in_redis = false;
    }

    fn end(&mut self, now: u64, at: usize, status: Status) {
        let order = &mut self.reservations[at].order;
        (order.status, order.ended_ms) = (status, Some(wall_ms(now)));
    }

    fn back(&mut self, now: u64, at: usize) {
        let Reservation { order: Order { unit, .. }, in_redis, .. } = self.reservations[at];
        self.reservations[at].in_redis = false;
        let is_others = self.reservations.iter().any(|one| one.in_redis && one.order.unit == unit);
        if !in_redis || is_others {
            return;
        }
        if self.free.is_empty() {
            self.cooldown_until = now + COOLDOWN_MS * MS;
        }
        self.free.insert(unit);
    }

    fn finished(mut self, now: u64) -> History {
        let clocks = Clocks::Together { zero_ms: ZERO_MS, within_ms: 0 };
        if self.plan.reads_ledger {
            self.history.orders = self.reservations.iter().map(|one| one.order).collect();
        }
        self.history.rounds.push(Round {
            units: self.plan.units,
            limit: self.plan.limit as u32,
            redis: self.forgot_at.map_or(Redis::Keeps, Redis::MayForgetFrom),
            cooldown_ms: COOLDOWN_MS,
            clocks: if self.plan.compares_clocks { clocks } else { Clocks::Apart },
            ledger: if self.plan.reads_ledger { LedgerReading::AtRest(now) } else { LedgerReading::NotRead },
            ..story::round()
        });
        self.history
    }
}

fn wall_ms(at: u64) -> i64 {
    ZERO_MS + (at / MS) as i64
}

/// One of the two payments of each client is a cent short.
fn payment_is_right(payment: Name) -> bool {
    payment.text().starts_with("pay 1 ")
}
