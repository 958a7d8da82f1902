use api::Problem;

use crate::Visitor;

pub(super) fn check(visitor: &Visitor) -> Result<(), Problem> {
    if visitor.snapshot.switches.stop(&visitor.sale_id) { Err(Problem::paused()) } else { Ok(()) }
}
