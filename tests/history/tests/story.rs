//! Hand-written histories, in seconds.

use history::{
    Answer, Buyers, Clocks, History, LedgerReading, Name, Operation, Order, PaymentOutcome, Question, Redis, Refusal,
    Round, Rule, Status, Supply, check,
};

pub(crate) const ROUND: &str = "lamp.1";

pub(crate) const SECOND: u64 = 1_000_000_000;

/// A sale of two units, one for each user. The ledger is read after 100 seconds.
pub(crate) fn round() -> Round {
    Round {
        id: ROUND.to_owned(),
        units: 2,
        limit: 1,
        supply: Supply::AtOnce,
        redis: Redis::Keeps,
        buyers: Buyers::Recorded,
        cooldown_ms: 1_500,
        clocks: Clocks::Apart,
        ledger: LedgerReading::AtRest(100 * SECOND),
    }
}

pub(crate) struct Story(pub(crate) History);

impl Story {
    pub(crate) fn new() -> Self {
        Self::of(round())
    }

    pub(crate) fn of(round: Round) -> Self {
        Self(History { rounds: vec![round], ..History::default() })
    }

    pub(crate) fn and(mut self, user: &str, question: Question, from: u64, to: u64, answer: Answer) -> Self {
        let (round, user) = (Name::of(ROUND), Name::of(user));
        let (call_ns, return_ns) = (from * SECOND, Some(to * SECOND));
        self.0.operations.push(Operation { round, user, question, call_ns, return_ns, answer });
        self
    }

    pub(crate) fn reserve(self, user: &str, from: u64, to: u64, answer: Answer) -> Self {
        self.and(user, Question::Reserve { key: Some(Name::of("k")) }, from, to, answer)
    }

    pub(crate) fn accepted(self, user: &str, from: u64, to: u64, reservation: &str) -> Self {
        self.reserve(user, from, to, Answer::Accepted { reservation: Name::of(reservation), unit: None })
    }

    pub(crate) fn refused(self, user: &str, from: u64, to: u64, refusal: Refusal) -> Self {
        self.reserve(user, from, to, Answer::Refused(refusal))
    }

    pub(crate) fn look(self, user: &str, reservation: &str, from: u64, to: u64, status: Status) -> Self {
        let looks = Question::Look { reservation: Name::of(reservation) };
        self.and(user, looks, from, to, Answer::Is { status, unit: None })
    }

    pub(crate) fn cancel(self, user: &str, reservation: &str, from: u64, to: u64) -> Self {
        let answer = Answer::Is { status: Status::Cancelled, unit: None };
        self.and(user, Question::Cancel { reservation: Name::of(reservation) }, from, to, answer)
    }

    pub(crate) fn pay(self, reservation: &str, payment: &str, from: u64, to: u64, outcome: PaymentOutcome) -> Self {
        let (reservation, payment) = (Name::of(reservation), Name::of(payment));
        self.and("", Question::Pay { reservation, payment }, from, to, Answer::Payment(outcome))
    }

    pub(crate) fn order(mut self, reservation: &str, user: &str, unit: u32, status: Status) -> Self {
        let (round, reservation, user) = (Name::of(ROUND), Name::of(reservation), Name::of(user));
        let (reason, reserved_ms, ended_ms) = (None, None, None);
        self.0.orders.push(Order { round, reservation, user, unit, status, reason, reserved_ms, ended_ms });
        self
    }

    pub(crate) fn failed(mut self, why: &str) -> Self {
        self.0.orders.last_mut().unwrap().reason = Some(Name::of(why));
        self
    }

    #[track_caller]
    pub(crate) fn passes(&self) {
        let report = check(&self.0);
        assert!(report.is_consistent(), "{report}");
    }

    /// Expects only this rule to be violated, with these parts in the message.
    #[track_caller]
    pub(crate) fn violates(&self, rule: Rule, parts: &[&str]) {
        let report = check(&self.0);
        let rules: Vec<Rule> = report.violations.iter().map(|violation| violation.rule).collect();
        assert!(!rules.is_empty() && rules.iter().all(|found| *found == rule), "{report}");
        let message = report.violations[0].to_string();
        println!("{message}");
        assert!(message.starts_with(&format!("{rule}, {ROUND}: ")), "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }
}
