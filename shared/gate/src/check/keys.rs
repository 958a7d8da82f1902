use api::Problem;

use crate::{Gate, Visitor};

/// For what cannot be undone: without the keys a right answer would be used up for nothing.
pub(super) async fn check(gate: &Gate<'_>, visitor: &mut Visitor) -> Result<(), Problem> {
    visitor.ring = Some(gate.keys.ring().await.map_err(Problem::unanswered)?);
    Ok(())
}
