use api::Problem;

use crate::{Gate, Visitor};

/// Fetches the keys before a step that cannot be undone: without them a right answer would be used up in vain.
pub(super) async fn check(gate: &Gate<'_>, visitor: &mut Visitor) -> Result<(), Problem> {
    visitor.ring = Some(gate.keys.get().await.map_err(Problem::unanswered)?);
    Ok(())
}
