//! The operations and orders of one round.

use crate::record::{
    Answer, Buyers, Clocks, History, LedgerReading, Name, Operation, Order, Question, Redis, Refusal, Round,
};

/// One round of a history: its operations in the order of their calls, and its orders.
pub(super) struct View<'a> {
    pub(super) round: &'a Round,
    pub(super) operations: Vec<&'a Operation>,
    pub(super) orders: Vec<&'a Order>,
    /// Requests for units, grouped by question.
    pub(super) asks: Vec<Asks<'a>>,
}

/// All requests of one user for a unit with one key, or a single request without one.
pub(super) struct Asks<'a> {
    pub(super) user: Name,
    pub(super) is_keyed: bool,
    /// In the order of their calls.
    pub(super) operations: Vec<&'a Operation>,
}

impl<'a> View<'a> {
    pub(super) fn of(history: &'a History, round: &'a Round) -> Self {
        let name = Name::of(&round.id);
        let mut operations: Vec<_> = history.operations.iter().filter(|operation| operation.round == name).collect();
        operations.sort_by_key(|operation| operation.call_ns);
        let orders = history.orders.iter().filter(|order| order.round == name).collect();
        let asks = asks(&operations);
        Self { round, operations, orders, asks }
    }

    /// Whether only the ledger's orders ever had a unit: Redis forgot nothing, and every reservation is an order.
    pub(super) fn orders_are_all(&self) -> bool {
        self.round.redis == Redis::Keeps && self.read_at().is_some()
    }

    pub(super) fn keeps(&self) -> bool {
        self.round.redis == Redis::Keeps
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.round.buyers == Buyers::Recorded
    }

    /// When Redis may have begun to forget.
    pub(super) const fn forgets_from(&self) -> u64 {
        match self.round.redis {
            Redis::Keeps => u64::MAX,
            Redis::MayForgetFrom(at) => at,
        }
    }

    /// Who heard this refusal and when, before Redis may have begun to forget.
    pub(super) fn refused(&self, refusal: Refusal) -> impl Iterator<Item = (&Operation, u64)> {
        let refused = self.operations.iter().filter(move |operation| operation.answer == Answer::Refused(refusal));
        refused.filter_map(move |operation| {
            Some((*operation, operation.return_ns.filter(|at| *at < self.forgets_from())?))
        })
    }

    pub(super) const fn read_at(&self) -> Option<u64> {
        match self.round.ledger {
            LedgerReading::NotRead => None,
            LedgerReading::AtRest(at) => Some(at),
        }
    }

    /// The earliest and the latest time on the recorder's clock that a millisecond of another clock may be.
    pub(super) fn moment(&self, epoch_ms: i64) -> Option<(u64, u64)> {
        let Clocks::Together { zero_ms, within_ms } = self.round.clocks else { return None };
        let after_ms = epoch_ms.checked_sub(zero_ms)?;
        let ns = |ms: i64| u64::try_from(ms.max(0)).ok()?.checked_mul(1_000_000);
        Some((ns(after_ms - i64::from(within_ms))?, ns(after_ms + 1 + i64::from(within_ms))?))
    }
}

fn asks<'a>(operations: &[&'a Operation]) -> Vec<Asks<'a>> {
    let asked = operations.iter().filter_map(|operation| match operation.question {
        Question::Reserve { key } => Some((operation.user, key, *operation)),
        _ => None,
    });
    let mut asked: Vec<(Name, Option<Name>, &Operation)> = asked.collect();
    asked.sort_by_key(|(user, key, _)| (*user, *key));
    let groups = asked.chunk_by(|one, other| one.1.is_some() && (one.0, one.1) == (other.0, other.1));
    let asks = groups.map(|group| Asks {
        user: group[0].0,
        is_keyed: group[0].1.is_some(),
        operations: group.iter().map(|one| one.2).collect(),
    });
    asks.collect()
}

impl<'a> Asks<'a> {
    pub(super) fn effective(&self) -> impl Iterator<Item = &'a Operation> {
        self.operations.iter().copied().filter(|operation| !matches!(operation.answer, Answer::Refused(_)))
    }
}
