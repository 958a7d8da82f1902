//! Histories of a correct sale are accepted whatever the schedule, and rejected after one change.

use history::{Answer, History, Name, Operation, Order, Question, Refusal, Rule, Status, check};
use proptest::prelude::*;

use crate::dice::Dice;
use crate::simulator::{Plan, simulated};

fn plans() -> impl Strategy<Value = Plan> {
    (1..7_usize, 1..12_usize, 1..7_u32, 1..3_usize, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(clients, requests_each, units, limit, forgets, reads_ledger, compares_clocks)| Plan {
            clients,
            requests_each,
            units,
            limit,
            forgets,
            reads_ledger,
            compares_clocks,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_correct_sale_is_consistent(plan in plans(), seed in any::<u64>()) {
        let history = simulated(plan, seed);
        let report = check(&history);
        prop_assert!(report.is_consistent(), "{report}\n{}", text(&history));
    }
}

fn text(history: &History) -> String {
    let mut lines = Vec::new();
    history.write(&mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Histories that each change is tried on.
const SEEDS: u64 = 600;

/// One way to make a history impossible. None if the history has nothing to change in this way.
type Change = fn(&mut History, &mut Dice) -> Option<()>;

const CHANGES: [(Rule, Change); 14] = [
    (Rule::UnitOwnedTwice, |history, dice| {
        let live = live(history);
        let (one, other) = (dice.one_of(&live)?, dice.one_of(&live)?);
        let unit = history.orders[one].unit;
        let changed = history.orders[other];
        (one != other).then_some(())?;
        history.orders[other].unit = unit;
        // Nor may any answer show the old unit.
        forget_units_of(history, changed.reservation);
        Some(())
    }),
    (Rule::NoSuchUnit, |history, dice| {
        let at = dice.below(history.orders.len().max(1) as u64) as usize;
        history.orders.get_mut(at)?.unit = history.rounds[0].units + 1;
        (history.orders[at].status != Status::Failed).then_some(())
    }),
    (Rule::SoldOutWhileFree, |history, dice| {
        let at = dice.below(3);
        let template = *history.operations.first()?;
        // Before all other requests.
        let answer = Answer::Refused(Refusal::SoldOut);
        shift(history, 10);
        let user = history.names.name("early");
        let question = Question::Reserve { key: None };
        history.operations.push(Operation { user, question, call_ns: at, return_ns: Some(5), answer, ..template });
        Some(())
    }),
    (Rule::LimitReachedTooEarly, |history, _| {
        let template = *history.operations.first()?;
        let answer = Answer::Refused(Refusal::LimitReached);
        let user = history.names.name("nobody");
        let question = Question::Reserve { key: None };
        history.operations.push(Operation { user, question, answer, call_ns: 0, return_ns: Some(1), ..template });
        Some(())
    }),
    (Rule::OverTheLimit, |history, dice| {
        // One user gets all live orders.
        let live = live(history);
        let user = history.orders[dice.one_of(&live)?].user;
        (live.len() > history.rounds[0].limit as usize).then_some(())?;
        live.iter().for_each(|at| history.orders[*at].user = user);
        Some(())
    }),
    (Rule::TwoAnswers, |history, dice| {
        let accepted = accepted(history);
        let at = dice.one_of(&accepted)?;
        let reservation = history.names.name("lamp.1.another");
        let again = Operation { answer: Answer::Accepted { reservation, unit: None }, ..history.operations[at] };
        history.operations.push(again);
        Some(())
    }),
    (Rule::TwoAnswers, |history, dice| {
        // The user asks again while the ledger is read.
        let live = live(history);
        let order = history.orders[dice.one_of(&live)?];
        matches!(order.status, Status::Paid).then_some(())?;
        let of_order = |at: &usize| matches!(history.operations[*at].answer, Answer::Accepted { reservation, .. } if reservation == order.reservation);
        let at = accepted(history).into_iter().find(of_order)?;
        let (call_ns, return_ns) = (u64::MAX - 10, Some(u64::MAX - 9));
        let answer = Answer::Refused(Refusal::SoldOut);
        history.operations.push(Operation { call_ns, return_ns, answer, ..history.operations[at] });
        Some(())
    }),
    (Rule::WentBack, |history, dice| {
        // A paid order is found expired.
        let paid: Vec<usize> =
            live(history).into_iter().filter(|at| history.orders[*at].status == Status::Paid).collect();
        let order = history.orders[dice.one_of(&paid)?];
        look_at_the_end(history, order, Status::Expired)
    }),
    (Rule::WentBack, |history, dice| {
        // A user saw an order, and then that it is queued.
        let ordered = |one: &&Operation<Name>| {
            matches!(one.answer, Answer::Is { status: Status::PendingPayment, .. }) && one.return_ns.is_some()
        };
        let seen: Vec<Operation<Name>> = history.operations.iter().filter(ordered).copied().collect();
        let seen = dice.one_of(&seen)?;
        let call_ns = seen.return_ns? + 1;
        let answer = Answer::Is { status: Status::Queued, unit: None };
        (!matches!(history.rounds[0].redis, history::Redis::MayForgetFrom(_))).then_some(())?;
        history.operations.push(Operation { call_ns, return_ns: Some(call_ns + 1), answer, ..seen });
        Some(())
    }),
    (Rule::UnitChanged, |history, dice| {
        let units = history.rounds[0].units;
        let seen: Vec<usize> = (0..history.operations.len())
            .filter(|at| {
                matches!(
                    history.operations[*at].answer,
                    Answer::Is { status: Status::PendingPayment | Status::Paid, unit: Some(_) }
                )
            })
            .collect();
        (units > 1).then_some(())?;
        let at = dice.one_of(&seen)?;
        let Answer::Is { status, unit: Some(unit) } = history.operations[at].answer else { return None };
        let other = std::num::NonZeroU32::new(unit.get() % units + 1);
        history.operations[at].answer = Answer::Is { status, unit: other };
        // Another look or the ledger must show the right one.
        history
            .operations
            .push(Operation { answer: Answer::Is { status, unit: Some(unit) }, ..history.operations[at] });
        Some(())
    }),
    (Rule::Forgotten, |history, dice| {
        let live = live(history);
        let order = history.orders[dice.one_of(&live)?];
        (!matches!(history.rounds[0].redis, history::Redis::MayForgetFrom(_))).then_some(())?;
        look_at_the_end(history, order, Status::Queued)?;
        history.operations.last_mut()?.answer = Answer::Refused(Refusal::UnknownReservation);
        let accepted = accepted(history);
        let is_heard = accepted.iter().any(|at| matches!(history.operations[*at].answer, Answer::Accepted { reservation, .. } if reservation == order.reservation));
        is_heard.then_some(())
    }),
    (Rule::PromiseBroken, |history, dice| {
        let at = dice.one_of(&accepted(history))?;
        let Answer::Accepted { reservation, .. } = history.operations[at].answer else { return None };
        (!history.orders.is_empty()).then_some(())?;
        history.orders.retain(|order| order.reservation != reservation);
        Some(())
    }),
    (Rule::NoReason, |history, dice| {
        let promised = |at: &usize| is_accepted(history, history.orders[*at].reservation);
        let orders: Vec<usize> = (0..history.orders.len()).filter(promised).collect();
        let at = dice.one_of(&orders)?;
        (history.orders[at].status, history.orders[at].reason) = (Status::Failed, None);
        Some(())
    }),
    (Rule::WithoutCause, |history, dice| {
        let live = live(history);
        let order = history.orders[dice.one_of(&live)?];
        let asks = |one: &Operation<Name>| matches!(one.question, Question::Cancel { reservation } if reservation == order.reservation);
        history.operations.retain(|one| !asks(one));
        look_at_the_end(history, order, Status::Cancelled)
    }),
];

/// Orders that still have their unit at the end and whose users heard of them.
fn live(history: &History) -> Vec<usize> {
    let is_live = |at: &usize| {
        let order: &Order<Name> = &history.orders[*at];
        order.status.is_ordered() && is_accepted(history, order.reservation)
    };
    // Where Redis forgets, other orders are not certain.
    let forgets = matches!(history.rounds[0].redis, history::Redis::MayForgetFrom(_));
    (0..history.orders.len()).filter(|at| is_live(at) && !forgets).collect()
}

fn is_accepted(history: &History, wanted: Name) -> bool {
    let is_it =
        |one: &Operation<Name>| matches!(one.answer, Answer::Accepted { reservation, .. } if reservation == wanted);
    history.operations.iter().any(is_it)
}

fn accepted(history: &History) -> Vec<usize> {
    let is_accepted = |at: &usize| matches!(history.operations[*at].answer, Answer::Accepted { .. });
    (0..history.operations.len()).filter(is_accepted).collect()
}

fn forget_units_of(history: &mut History, of: Name) {
    for one in &mut history.operations {
        match (&one.question, &mut one.answer) {
            (Question::Look { reservation } | Question::Cancel { reservation }, Answer::Is { unit, .. })
                if *reservation == of =>
            {
                *unit = None;
            }
            _ => {}
        }
    }
}

fn look_at_the_end(history: &mut History, order: Order<Name>, status: Status) -> Option<()> {
    let last = history.operations.iter().filter_map(|one| one.return_ns).max()?;
    let Order { round, user, reservation, .. } = order;
    history.operations.push(Operation {
        round,
        user,
        question: Question::Look { reservation },
        call_ns: last + 1,
        return_ns: Some(last + 2),
        answer: Answer::Is { status, unit: None },
    });
    Some(())
}

/// Shifts everything by this much.
fn shift(history: &mut History, by_ns: u64) {
    for one in &mut history.operations {
        (one.call_ns, one.return_ns) = (one.call_ns + by_ns, one.return_ns.map(|at| at + by_ns));
    }
}

#[test]
fn one_change_is_rejected_by_its_name() {
    for (number, (rule, change)) in CHANGES.iter().enumerate() {
        let mut changed = 0;
        for seed in 0..SEEDS {
            let mut dice = Dice::new(seed);
            let plan = Plan {
                clients: 2 + dice.below(5) as usize,
                requests_each: 3 + dice.below(8) as usize,
                units: 2 + dice.below(4) as u32,
                limit: 1 + dice.below(2) as usize,
                forgets: dice.one_in(4),
                reads_ledger: true,
                compares_clocks: dice.one_in(2),
            };
            let mut history = simulated(plan, seed);
            if change(&mut history, &mut dice).is_none() {
                continue;
            }
            changed += 1;
            let report = check(&history);
            let before = || text(&simulated(plan, seed));
            assert!(report.violates(*rule), "{number}, seed {seed}, {rule:?}: {report}\n{}", before());
        }
        println!("{changed} of {SEEDS} histories could be changed to violate {}, and all were rejected", rule.as_str());
        assert!(changed >= 20, "{rule:?}: {changed}");
    }
}
