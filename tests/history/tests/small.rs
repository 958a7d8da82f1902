//! Small random histories, for stateright and for our checks.

use std::num::NonZeroU32;

use history::{Answer, History, LedgerReading, Name, Operation, Question, Refusal, Round, Status};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};

use crate::dice::Dice;
use crate::spec::RoundSpec;
use crate::story::{ROUND, round};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    AnotherAnswer, // One answer is replaced by another that such a request may get.
    AnotherTime,   // One request ends before, or begins after, the moment at which it takes effect.
    OneUnitMore,   // The system sells one unit too many.
    Forgets,       // The system forgets a reservation.
}

/// Up to three clients with up to eight requests each, without a ledger.
pub(crate) fn small(dice: &mut Dice, fault: Fault) -> History {
    let (clients, most) = (1 + dice.below(3) as usize, 1 + dice.below(8));
    let (units, limit) = (1 + dice.below(3) as u32, 1 + dice.below(2) as u32);
    let system = RoundSpec::new(units + u32::from(fault == Fault::OneUnitMore), limit);
    // When each request is called, takes effect and returns.
    let mut plan: Vec<(Name, Question, [u64; 3], bool)> = Vec::new();
    let mut moment = 0_u64;
    for client in 0..clients {
        let mut now = 0;
        for _ in 0..1 + dice.below(most) {
            let reservation = Name::of(&format!("{client}.{}", dice.below(3)));
            let question = match dice.below(5) {
                0 => Question::Look { reservation },
                1 => Question::Cancel { reservation },
                _ => Question::Reserve { key: Some(reservation) },
            };
            // No two moments are the same.
            let mut later = |by: u64| {
                moment += 1;
                now += 100 * (1 + dice.below(by));
                now * 1_000 + moment
            };
            let times = [later(4), later(3), later(3)];
            plan.push((Name::of(&client.to_string()), question, times, dice.one_in(12)));
        }
    }
    plan.sort_by_key(|(_, _, times, _)| times[1]);
    let mut state = <_>::default();
    let mut operations = Vec::new();
    let forgets_at = dice.below(plan.len() as u64) as usize;
    for (number, (user, question, [call_ns, _, return_ns], is_unheard)) in plan.into_iter().enumerate() {
        if fault == Fault::Forgets && number == forgets_at {
            state = <_>::default();
        }
        let outcomes = system.outcomes(&state, question);
        let (answer, after) = outcomes[dice.below(outcomes.len() as u64) as usize].clone();
        state = after;
        let return_ns = (!is_unheard).then_some(return_ns);
        operations.push(Operation { round: Name::of(ROUND), user, question, call_ns, return_ns, answer });
    }
    spoil(&mut operations, units, dice, fault);
    operations.sort_by_key(|operation| operation.call_ns);
    for unheard in operations.iter_mut().filter(|operation| operation.return_ns.is_none()) {
        unheard.answer = Answer::Unknown;
    }
    let round = Round { units, limit, cooldown_ms: 0, ledger: LedgerReading::NotRead, ..round() };
    History { rounds: vec![round], operations, orders: Vec::new() }
}

fn spoil(operations: &mut [Operation], units: u32, dice: &mut Dice, fault: Fault) {
    let last = operations.iter().filter_map(|operation| operation.return_ns).max().unwrap_or(0);
    let operation = &mut operations[dice.below(operations.len() as u64) as usize];
    match fault {
        Fault::AnotherAnswer => {
            let unit = NonZeroU32::new(1 + dice.below(units.into()) as u32);
            let cancelled = Answer::Is { status: Status::Cancelled, unit: None };
            operation.answer = match (operation.question, dice.below(3)) {
                (Question::Reserve { key: Some(reservation) }, 0) => Answer::Accepted { reservation, unit },
                (Question::Reserve { .. }, 1) => Answer::Refused(Refusal::SoldOut),
                (Question::Reserve { .. }, _) => Answer::Refused(Refusal::LimitReached),
                (Question::Look { .. }, 0) => Answer::Is { status: Status::Queued, unit },
                (Question::Look { .. }, 1) | (_, 0) => cancelled,
                _ => Answer::Refused(Refusal::UnknownReservation),
            };
        }
        // After all other requests.
        Fault::AnotherTime => (operation.call_ns, operation.return_ns) = (last + 7, Some(last + 9)),
        Fault::None | Fault::OneUnitMore | Fault::Forgets => {}
    }
}

/// Whether stateright finds an order of the requests that explains all answers.
pub(crate) fn is_linearizable(History { rounds, operations, .. }: &History) -> bool {
    let mut moments: Vec<(u64, usize, bool)> = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        moments.push((operation.call_ns, number, true));
        moments.extend(operation.return_ns.map(|at| (at, number, false)));
    }
    moments.sort_unstable();
    let mut tester = LinearizabilityTester::new(RoundSpec::new(rounds[0].units, rounds[0].limit));
    // A client that hears nothing continues under another thread id.
    let mut gone = [0_usize; 10];
    let mut threads = vec![0; operations.len()];
    for (_, number, is_call) in moments {
        let Operation { user, question, answer, return_ns, .. } = operations[number];
        let client: usize = user.text().parse().expect("a number");
        if is_call {
            threads[number] = client + 10 * gone[client];
            gone[client] += usize::from(return_ns.is_none());
            tester.on_invoke(threads[number], question).expect("one request at a time");
        } else {
            tester.on_return(threads[number], answer).expect("it was called");
        }
    }
    tester.is_consistent()
}
