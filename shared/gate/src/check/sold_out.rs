use api::Problem;
use runtime::Moment;

use crate::{Gate, Visitor};

/// Applies only to passes for the running round, since the mark says nothing about other rounds.
pub(super) fn check(gate: &Gate<'_>, visitor: &Visitor) -> Result<(), Problem> {
    let round = visitor.pass()?.round;
    let running = visitor.sale.as_ref().filter(|cached| cached.round.id.number == round);
    let still = running.and_then(|cached| cached.sold_out.covers(&visitor.user, Moment::now(gate.clock)));
    still.map_or(Ok(()), |still| Err(Problem::sold_out(still.next_release_ms, gate.clock.now())))
}
