use api::{Code, Problem};
use cache::Moment;

use crate::{Gate, Visitor};

/// What is remembered is of the round that runs, so it says nothing to a pass for another.
pub(super) fn check(gate: &Gate<'_>, visitor: &Visitor) -> Result<(), Problem> {
    let round = visitor.pass()?.round;
    let running = visitor.sale.as_ref().filter(|cached| cached.round.id.number == round);
    match running {
        Some(cached) if cached.sold_out.covers(&visitor.user, Moment::now(gate.clock)) => {
            Err(Problem::new(Code::SoldOut))
        }
        _ => Ok(()),
    }
}
