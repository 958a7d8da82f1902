use std::ops::Deref;
use std::sync::Arc;

use runtime::Clock;
use sale::Round;
use stock::{Stock, StockError};
use strum::IntoStaticStr;

use crate::answer_counts::AnswerCounts;
use crate::demand::Demand;
use crate::sold_out_mark::SoldOutMark;
use crate::turns::{Turn, Turns};

/// A kind of request that a sale's throttle limits, each by itself, so wrong answers do not crowd out reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Step {
    Challenge,
    Token,
    Reserve,
}

/// A sale's latest round, with what this process remembers of it.
#[derive(Debug)]
pub struct CachedSale {
    pub round: Round,
    memory: Arc<RoundMemory>,
}

#[derive(Debug, Default)]
pub struct RoundMemory {
    pub sold_out: SoldOutMark,
    pub demand: Demand,
    pub answers: AnswerCounts,
    /// For each step of a throttled sale.
    turns: [Turns; 3],
}

impl Deref for CachedSale {
    type Target = RoundMemory;

    fn deref(&self) -> &RoundMemory {
        &self.memory
    }
}

impl CachedSale {
    /// A round that was just read. What the process remembers is taken from `before`, if that is the same round.
    pub(crate) fn new(round: Round, before: Option<&Self>) -> Self {
        let before = before.filter(|before| before.round.id == round.id);
        let memory = before.map_or_else(Arc::default, |before| Arc::clone(&before.memory));
        Self { round, memory }
    }

    /// Takes a turn for one request, if the sale is throttled.
    pub async fn take_turn(&self, stock: &Stock, step: Step, clock: Clock) -> Result<Turn, StockError> {
        let Some(per_s) = self.round.throttle_requests_per_s else { return Ok(Turn::Now) };
        let lease = async |wanted| stock.of(&self.round).lease(step.into(), per_s, wanted).await;
        self.turns[step as usize].take(per_s, clock, lease).await
    }

    pub fn give_turn_back(&self, step: Step) {
        if self.round.throttle_requests_per_s.is_some() {
            self.turns[step as usize].give_back();
        }
    }
}
