use api::Problem;
use process::{Step, Turn};

use crate::{Gate, Visitor};

pub(super) async fn check(gate: &Gate<'_>, visitor: &Visitor, step: Step) -> Result<(), Problem> {
    let isolated = visitor.sale.as_ref().filter(|cached| cached.round.isolated_requests_per_s.is_some());
    let Some(cached) = isolated else { return Ok(()) };
    match Box::pin(cached.take_turn(gate.stock, step, gate.clock)).await.map_err(Problem::unanswered)? {
        Turn::Now => Ok(()),
        Turn::Later(wait) => Err(Problem::rate_limited(None, wait.as_millis() as u64)),
    }
}
