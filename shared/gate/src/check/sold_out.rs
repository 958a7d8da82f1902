use api::{Code, Problem};
use cache::Moment;

use crate::{Gate, Visitor};

/// Applies to passes for the running round alone: the mark says nothing about another.
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
