use runtime::Clock;
use sale::Round;
use stock::{Stock, StockError};
use strum::IntoStaticStr;

use crate::turns::{Turn, Turns};

/// A kind of request that a sale's throttle limits. Each has its own limit, so wrong answers do not crowd out
/// reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Step {
    Challenge,
    Token,
    Reserve,
}

/// This process's turns for a throttled sale, by step.
#[derive(Debug, Default)]
pub(crate) struct ThrottleTurns([Turns; 3]);

impl ThrottleTurns {
    /// Takes a turn for one request for `round`, which may send Redis `per_s` requests of this step in a second.
    pub(crate) async fn take_turn(
        &self,
        stock: &Stock,
        round: &Round,
        per_s: u32,
        step: Step,
        clock: Clock,
    ) -> Result<Turn, StockError> {
        let lease = async |wanted| stock.of(round).lease(step.into(), per_s, wanted).await;
        self.0[step as usize].take(per_s, clock, lease).await
    }

    pub(crate) fn give_turn_back(&self, step: Step) {
        self.0[step as usize].give_back();
    }
}
