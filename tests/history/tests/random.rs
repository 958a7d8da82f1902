//! Histories of a correct sale are accepted whatever the schedule, rejected after one change, and the same in a file.

use history::{Answer, History, Name, Operation, Order, Question, Redis, Refusal, Rule, Status, check};
use proptest::prelude::*;

use crate::dice::Dice;
use crate::simulator::{Plan, simulated};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_correct_sale_is_consistent(plan in any::<u64>(), seed in any::<u64>()) {
        let history = simulated(Plan::random(&mut Dice::new(plan)), seed);
        let report = check(&history);
        prop_assert!(report.is_consistent(), "{report}\n{}", text(&history));
    }
}

fn text(history: &History) -> String {
    let mut lines = Vec::new();
    history.write(&mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn a_file_has_all_of_a_history() {
    for seed in 0..50 {
        let history = simulated(Plan::random(&mut Dice::new(seed)), seed);
        let file = text(&history);
        let read = History::read(file.as_bytes()).unwrap();
        assert_eq!(text(&read), file);
        assert_eq!(check(&history), check(&read));
    }
}

#[test]
fn what_is_no_history_is_told_by_its_line() {
    let order = r#"{"order":{"round":"lamp.1","reservation":"a","user":"alice","unit":1,"status":"paid"}}"#;
    let error = History::read(format!("{order}\n{{\"left\":1}}\n").as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("line 2 is not one of a history: unknown variant"), "{error}");
}

/// Histories that each change is tried on.
const SEEDS: u64 = 1_000;

/// One way to make a history impossible. None if the history has nothing to change in this way.
type Change = fn(&mut History, &mut Dice) -> Option<()>;

const CHANGES: [(Rule, Change); 14] = [
    (Rule::UnitOwnedTwice, |history, dice| {
        let live = live(history);
        let (one, other) = (dice.one_of(&live)?, dice.one_of(&live)?);
        (one != other).then_some(())?;
        history.orders[other].unit = history.orders[one].unit;
        let of = history.orders[other].reservation;
        // Nor may any answer show the old unit.
        for operation in &mut history.operations {
            if let (Question::Look { reservation } | Question::Cancel { reservation }, Answer::Is { unit, .. }) =
                (operation.question, &mut operation.answer)
                && reservation == of
            {
                *unit = None;
            }
        }
        Some(())
    }),
    (Rule::NoSuchUnit, |history, dice| {
        let at = dice.below(history.orders.len().max(1) as u64) as usize;
        history.orders.get_mut(at)?.unit = history.rounds[0].units + 1;
        (history.orders[at].status != Status::Failed).then_some(())
    }),
    (Rule::SoldOutWhileFree, |history, dice| {
        let at = dice.below(3);
        // Before all other requests.
        for one in &mut history.operations {
            (one.call_ns, one.return_ns) = (one.call_ns + 10, one.return_ns.map(|at| at + 10));
        }
        asks(history, "early", [at, 5], Refusal::SoldOut)
    }),
    (Rule::LimitReachedTooEarly, |history, _| asks(history, "nobody", [0, 1], Refusal::LimitReached)),
    (Rule::OverTheLimit, |history, dice| {
        // One user gets all live orders.
        let live = live(history);
        let user = history.orders[dice.one_of(&live)?].user;
        (live.len() > history.rounds[0].limit as usize).then_some(())?;
        live.iter().for_each(|at| history.orders[*at].user = user);
        Some(())
    }),
    (Rule::TwoAnswers, |history, dice| {
        let accepted = dice.one_of(&answered(history, is_accepted))?;
        let answer = Answer::Accepted { reservation: Name::of("lamp.1.another"), unit: None };
        history.operations.push(Operation { answer, ..accepted });
        Some(())
    }),
    (Rule::TwoAnswers, |history, dice| {
        // The user asks again while the ledger is read.
        let order = live_order(history, dice)?;
        matches!(order.status, Status::Paid).then_some(())?;
        let accepted = *history.operations.iter().find(|one| is_for(one, order.reservation))?;
        let (call_ns, return_ns) = (u64::MAX - 10, Some(u64::MAX - 9));
        let answer = Answer::Refused(Refusal::SoldOut);
        history.operations.push(Operation { call_ns, return_ns, answer, ..accepted });
        Some(())
    }),
    (Rule::WentBack, |history, dice| {
        // A paid order is found expired.
        let paid: Vec<usize> =
            live(history).into_iter().filter(|at| history.orders[*at].status == Status::Paid).collect();
        let order = history.orders[dice.one_of(&paid)?];
        looks_at_the_end(history, order, Answer::Is { status: Status::Expired, unit: None })
    }),
    (Rule::WentBack, |history, dice| {
        // A user saw an order, and then that it is queued.
        let is_ordered = |answer: &Answer| matches!(answer, Answer::Is { status: Status::PendingPayment, .. });
        let seen = dice.one_of(&answered(history, is_ordered))?;
        let call_ns = seen.return_ns? + 1;
        let answer = Answer::Is { status: Status::Queued, unit: None };
        keeps(history).then_some(())?;
        history.operations.push(Operation { call_ns, return_ns: Some(call_ns + 1), answer, ..seen });
        Some(())
    }),
    (Rule::UnitChanged, |history, dice| {
        let units = history.rounds[0].units;
        let has_unit = |answer: &Answer| {
            matches!(answer, Answer::Is { status: Status::PendingPayment | Status::Paid, unit: Some(_) })
        };
        (units > 1).then_some(())?;
        // Another look or the ledger must show the right one.
        let right = dice.one_of(&answered(history, has_unit))?;
        let Answer::Is { status, unit: Some(unit) } = right.answer else { return None };
        let answer = Answer::Is { status, unit: std::num::NonZeroU32::new(unit.get() % units + 1) };
        history.operations.push(Operation { answer, ..right });
        Some(())
    }),
    (Rule::Forgotten, |history, dice| {
        let order = live_order(history, dice)?;
        keeps(history).then_some(())?;
        looks_at_the_end(history, order, Answer::Refused(Refusal::UnknownReservation))
    }),
    (Rule::PromiseBroken, |history, dice| {
        let accepted = dice.one_of(&answered(history, is_accepted))?;
        let Answer::Accepted { reservation, .. } = accepted.answer else { return None };
        (!history.orders.is_empty()).then_some(())?;
        history.orders.retain(|order| order.reservation != reservation);
        Some(())
    }),
    (Rule::NoReason, |history, dice| {
        let promised = |at: &usize| is_promised(history, history.orders[*at].reservation);
        let orders: Vec<usize> = (0..history.orders.len()).filter(promised).collect();
        let at = dice.one_of(&orders)?;
        (history.orders[at].status, history.orders[at].reason) = (Status::Failed, None);
        Some(())
    }),
    (Rule::WithoutCause, |history, dice| {
        let order = live_order(history, dice)?;
        let cancels = Question::Cancel { reservation: order.reservation };
        history.operations.retain(|one| one.question != cancels);
        looks_at_the_end(history, order, Answer::Is { status: Status::Cancelled, unit: None })
    }),
];

fn keeps(history: &History) -> bool {
    history.rounds[0].redis == Redis::Keeps
}

/// Orders that still have their unit at the end and whose users heard of them. Where Redis forgets, none is certain.
fn live(history: &History) -> Vec<usize> {
    let is_live = |at: &usize| {
        let order = &history.orders[*at];
        keeps(history) && order.status.is_ordered() && is_promised(history, order.reservation)
    };
    (0..history.orders.len()).filter(is_live).collect()
}

fn live_order(history: &History, dice: &mut Dice) -> Option<Order> {
    dice.one_of(&live(history)).map(|at| history.orders[at])
}

fn is_for(operation: &Operation, wanted: Name) -> bool {
    matches!(operation.answer, Answer::Accepted { reservation, .. } if reservation == wanted)
}

fn is_promised(history: &History, wanted: Name) -> bool {
    history.operations.iter().any(|one| is_for(one, wanted))
}

fn is_accepted(answer: &Answer) -> bool {
    matches!(answer, Answer::Accepted { .. })
}

fn answered(history: &History, is: fn(&Answer) -> bool) -> Vec<Operation> {
    history.operations.iter().filter(|one| is(&one.answer)).copied().collect()
}

fn asks(history: &mut History, user: &str, [call_ns, return_ns]: [u64; 2], refusal: Refusal) -> Option<()> {
    let (round, user) = (history.operations.first()?.round, Name::of(user));
    let (question, answer) = (Question::Reserve { key: None }, Answer::Refused(refusal));
    history.operations.push(Operation { round, user, question, call_ns, return_ns: Some(return_ns), answer });
    Some(())
}

fn looks_at_the_end(history: &mut History, order: Order, answer: Answer) -> Option<()> {
    let last = history.operations.iter().filter_map(|one| one.return_ns).max()?;
    let Order { round, user, reservation, .. } = order;
    let (question, call_ns, return_ns) = (Question::Look { reservation }, last + 1, Some(last + 2));
    history.operations.push(Operation { round, user, question, call_ns, return_ns, answer });
    Some(())
}

#[test]
fn one_change_is_rejected_by_its_name() {
    for (number, (rule, change)) in CHANGES.iter().enumerate() {
        let mut changed = 0;
        for seed in 0..SEEDS {
            let mut dice = Dice::new(seed);
            let plan = Plan { reads_ledger: true, ..Plan::random(&mut dice) };
            let mut history = simulated(plan, seed);
            if change(&mut history, &mut dice).is_none() {
                continue;
            }
            changed += 1;
            let report = check(&history);
            let before = || text(&simulated(plan, seed));
            assert!(report.violates(*rule), "{number}, seed {seed}, {rule:?}: {report}\n{}", before());
        }
        println!("{changed} of {SEEDS} histories could be changed to violate {rule}, and all were rejected");
        assert!(changed >= 20, "{rule:?}: {changed}");
    }
}
