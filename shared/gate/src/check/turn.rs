use api::Problem;
use process::{Step, Turn};

use crate::{Gate, Visitor};

impl Gate<'_> {
    /// Takes a turn for a call to Redis, if the sale is throttled. It comes right before the call, after everything
    /// else that can refuse the request: whoever is refused, gives up or dies before has taken nothing from others.
    /// Fails with [`RateLimited`](api::Code::RateLimited) if none is left, and 503 if Redis does not answer.
    pub async fn turn(&self, visitor: &Visitor, step: Step) -> Result<(), Problem> {
        let throttled = visitor.sale.as_ref().filter(|cached| cached.round.throttle_requests_per_s.is_some());
        let Some(cached) = throttled else { return Ok(()) };
        match Box::pin(cached.take_turn(self.stock, step, self.clock)).await.map_err(Problem::unanswered)? {
            Turn::Now => Ok(()),
            Turn::Later(wait) => Err(Problem::rate_limited(None, wait.as_millis() as u64)),
        }
    }
}
