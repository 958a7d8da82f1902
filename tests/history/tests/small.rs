//! Small random histories in both forms: stateright's and ours.

use std::num::NonZeroU32;

use history::{
    Answer, Buyers, Clocks, History, LedgerReading, Operation, Question, Redis, Refusal, Round, Status, Supply,
};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};

use crate::dice::Dice;
use crate::simulator::ROUND;
use crate::spec::{Key, Op, Ret, RoundSpec};

/// One request. `ret_at` is none if the answer was lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) client: u8,
    pub(crate) op: Op,
    pub(crate) ret: Ret,
    pub(crate) call_at: u64,
    pub(crate) ret_at: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Small {
    pub(crate) units: u8,
    pub(crate) limit: usize,
    pub(crate) requests: Vec<Request>,
}

/// A fault planted in a correct history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// One answer is replaced by another that such a request may get.
    AnotherAnswer,
    /// One request ends before, or begins after, the moment at which it takes effect.
    AnotherTime,
    /// The system sells one unit too many.
    OneUnitMore,
    /// The system forgets a reservation.
    Forgets,
}

impl Small {
    /// Up to three clients with up to eight requests each.
    pub(crate) fn random(dice: &mut Dice, fault: Fault) -> Self {
        let (clients, most) = (1 + dice.below(3) as u8, 1 + dice.below(8));
        let (units, limit) = (1 + dice.below(3) as u8, 1 + dice.below(2) as usize);
        let system = RoundSpec::new(units + u8::from(fault == Fault::OneUnitMore), limit);
        // When each request is called, takes effect and returns.
        let mut plan: Vec<(u8, Op, [u64; 3], bool)> = Vec::new();
        let (mut at, mut moment) = (vec![0; usize::from(clients)], 0_u64);
        for client in 0..clients {
            for _ in 0..1 + dice.below(most) {
                let now = &mut at[usize::from(client)];
                let key: Key = (client, dice.below(3) as u8);
                let op = match dice.below(5) {
                    0 => Op::Look(key),
                    1 => Op::Cancel(key),
                    _ => Op::Reserve(key),
                };
                // No two moments are the same.
                let mut later = |by: u64| {
                    moment += 1;
                    *now += 100 * (1 + dice.below(by));
                    *now * 1_000 + moment
                };
                let times = [later(4), later(3), later(3)];
                plan.push((client, op, times, dice.one_in(12)));
            }
        }
        plan.sort_by_key(|(_, _, times, _)| times[1]);
        let mut state = <_>::default();
        let mut requests = Vec::new();
        let forgets_at = dice.below(plan.len() as u64) as usize;
        for (number, (client, op, [call_at, _, ret_at], is_unheard)) in plan.into_iter().enumerate() {
            if fault == Fault::Forgets && number == forgets_at {
                state = <_>::default();
            }
            let outcomes = system.outcomes(&state, op);
            let (ret, after) = outcomes[dice.below(outcomes.len() as u64) as usize].clone();
            state = after;
            requests.push(Request { client, op, ret, call_at, ret_at: (!is_unheard).then_some(ret_at) });
        }
        let mut small = Self { units, limit, requests };
        small.spoil(dice, fault);
        small.requests.sort_by_key(|request| request.call_at);
        small
    }

    fn spoil(&mut self, dice: &mut Dice, fault: Fault) {
        let last = self.requests.iter().filter_map(|request| request.ret_at).max().unwrap_or(0);
        let at = dice.below(self.requests.len() as u64) as usize;
        let units = u64::from(self.units);
        let request = &mut self.requests[at];
        match fault {
            Fault::AnotherAnswer => {
                let unit = 1 + dice.below(units) as u8;
                request.ret = match (request.op, dice.below(3)) {
                    (Op::Reserve(_), 0) => Ret::Accepted(unit),
                    (Op::Reserve(_), 1) => Ret::SoldOut,
                    (Op::Reserve(_), _) => Ret::LimitReached,
                    (Op::Look(_), 0) => Ret::Queued(unit),
                    (Op::Look(_), 1) => Ret::Cancelled,
                    (_, 0) => Ret::Cancelled,
                    (_, _) => Ret::Unknown,
                };
            }
            // Alone, after all other requests.
            Fault::AnotherTime => (request.client, request.call_at, request.ret_at) = (9, last + 7, Some(last + 9)),
            Fault::None | Fault::OneUnitMore | Fault::Forgets => {}
        }
    }

    /// Whether stateright finds an order of the requests that explains all answers.
    pub(crate) fn is_linearizable(&self) -> bool {
        let mut moments: Vec<(u64, usize, bool)> = Vec::new();
        for (number, request) in self.requests.iter().enumerate() {
            moments.push((request.call_at, number, true));
            moments.extend(request.ret_at.map(|at| (at, number, false)));
        }
        moments.sort_unstable();
        let mut tester = LinearizabilityTester::new(RoundSpec::new(self.units, self.limit));
        // A client that hears nothing continues under another thread id.
        let mut gone = [0_usize; 10];
        let mut threads = vec![0; self.requests.len()];
        for (_, number, is_call) in moments {
            let Request { client, op, ret, ret_at, .. } = self.requests[number];
            let client = usize::from(client);
            if is_call {
                threads[number] = client + 10 * gone[client];
                gone[client] += usize::from(ret_at.is_none());
                tester.on_invoke(threads[number], op).expect("one request at a time");
            } else {
                tester.on_return(threads[number], ret).expect("it was called");
            }
        }
        tester.is_consistent()
    }

    /// The history as we record it, without a ledger.
    pub(crate) fn history(&self) -> History {
        let mut history = History::default();
        history.rounds.push(Round {
            id: ROUND.to_owned(),
            units: self.units.into(),
            limit: self.limit as u32,
            supply: Supply::AtOnce,
            redis: Redis::Keeps,
            buyers: Buyers::Recorded,
            cooldown_ms: 0,
            clocks: Clocks::Apart,
            ledger: LedgerReading::NotRead,
        });
        for request in &self.requests {
            let names = &mut history.names;
            let (Op::Reserve(key) | Op::Look(key) | Op::Cancel(key)) = request.op;
            let reservation = names.name(&format!("{}.{}", key.0, key.1));
            let (round, user) = (names.name(ROUND), names.name(&format!("user-{}", key.0)));
            let question = match request.op {
                Op::Reserve(key) => Question::Reserve { key: Some(names.name(&format!("key-{}", key.1))) },
                Op::Look(_) => Question::Look { reservation },
                Op::Cancel(_) => Question::Cancel { reservation },
            };
            let unit = |unit: u8| NonZeroU32::new(unit.into());
            let answer = match request.ret {
                _ if request.ret_at.is_none() => Answer::Unknown,
                Ret::Accepted(of) => Answer::Accepted { reservation, unit: unit(of) },
                Ret::SoldOut => Answer::Refused(Refusal::SoldOut),
                Ret::LimitReached => Answer::Refused(Refusal::LimitReached),
                Ret::Queued(of) => Answer::Is { status: Status::Queued, unit: unit(of) },
                Ret::Cancelled => Answer::Is { status: Status::Cancelled, unit: None },
                Ret::Unknown => Answer::Refused(Refusal::UnknownReservation),
                Ret::Unheard => unreachable!("a request that is answered"),
            };
            let (call_ns, return_ns) = (request.call_at, request.ret_at);
            history.operations.push(Operation { round, user, question, call_ns, return_ns, answer });
        }
        history
    }
}
