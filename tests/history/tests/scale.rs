//! More operations than a check that is not linear could take.

use history::{
    Answer, Buyers, History, LedgerReading, Name, Operation, Order, Question, Refusal, Round, Status, check,
};

use crate::story;

const UNITS: u64 = 20_000;
const OPERATIONS: u64 = 200_000;

/// The first to ask get a unit each, and all others hear `sold_out`.
#[test]
fn many_operations_are_checked() {
    let mut history = History::default();
    let (round, key) = (Name::of("lamp.1"), Some(Name::of("key")));
    for number in 0..OPERATIONS {
        let user = Name::of(&format!("user-{number}"));
        let (call_ns, return_ns) = (10 * number, Some(10 * number + 1_000));
        let answer = if number < UNITS {
            let reservation = Name::of(&format!("lamp.1.{number}"));
            let (unit, status) = (number as u32 + 1, Status::Paid);
            let (reason, reserved_ms, ended_ms) = (None, None, None);
            history.orders.push(Order { round, reservation, user, unit, status, reason, reserved_ms, ended_ms });
            Answer::Accepted { reservation, unit: None }
        } else {
            Answer::Refused(Refusal::SoldOut)
        };
        let question = Question::Reserve { key };
        history.operations.push(Operation { round, user, question, call_ns, return_ns, answer });
    }
    let ledger = LedgerReading::AtRest(10 * OPERATIONS + 2_000);
    history.rounds.push(Round { units: UNITS as u32, buyers: Buyers::AndOthers, ledger, ..story::round() });
    let report = check(&history);
    assert!(report.is_consistent(), "{report}");
    assert_eq!(report.judged.sold_out as u64, OPERATIONS - UNITS);

    // The last unit now has no owner, so some user was told too early.
    history.orders.pop();
    assert!(check(&history).violates(history::Rule::SoldOutWhileFree));
}
