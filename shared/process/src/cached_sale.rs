use std::sync::Arc;

use runtime::Clock;
use sale::Round;
use stock::{Stock, StockError};

use crate::answer_counts::AnswerCounts;
use crate::demand::Demand;
use crate::sold_out_mark::SoldOutMark;
use crate::throttle_turns::{Step, ThrottleTurns};
use crate::turns::Turn;

/// A sale's latest round, with what this process remembers of it.
#[derive(Debug)]
pub struct CachedSale {
    pub round: Round,
    pub sold_out: Arc<SoldOutMark>,
    pub demand: Arc<Demand>,
    pub answers: Arc<AnswerCounts>,
    throttle: Arc<ThrottleTurns>,
}

impl CachedSale {
    /// A round that was just read. What the process remembers is taken from `before`, if that is the same round.
    pub(crate) fn new(round: Round, before: Option<&Self>) -> Self {
        match before.filter(|before| before.round.id == round.id) {
            Some(Self { sold_out, demand, answers, throttle, .. }) => {
                let (sold_out, demand) = (Arc::clone(sold_out), Arc::clone(demand));
                Self { round, sold_out, demand, answers: Arc::clone(answers), throttle: Arc::clone(throttle) }
            }
            None => Self {
                round,
                sold_out: Arc::default(),
                demand: Arc::default(),
                answers: Arc::default(),
                throttle: Arc::default(),
            },
        }
    }

    /// Takes a turn for one request, if the sale is throttled.
    pub async fn take_turn(&self, stock: &Stock, step: Step, clock: Clock) -> Result<Turn, StockError> {
        match self.round.throttle_requests_per_s {
            Some(per_s) => self.throttle.take_turn(stock, &self.round, per_s, step, clock).await,
            None => Ok(Turn::Now),
        }
    }

    pub fn give_turn_back(&self, step: Step) {
        if self.round.throttle_requests_per_s.is_some() {
            self.throttle.give_turn_back(step);
        }
    }
}
