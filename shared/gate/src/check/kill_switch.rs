use api::Problem;

use crate::Visitor;

pub(super) fn check(visitor: &Visitor) -> Result<(), Problem> {
    if visitor.snapshot.kill_switches.is_stopped(&visitor.sale_id) { Err(Problem::paused()) } else { Ok(()) }
}
