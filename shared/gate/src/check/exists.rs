use api::Problem;

use crate::{Gate, Visitor};

/// Looks again for a sale that the snapshot does not have: it may have been published since.
pub(super) async fn check(gate: &Gate<'_>, visitor: &mut Visitor) -> Result<(), Problem> {
    if visitor.sale.is_none() {
        visitor.snapshot = Box::pin(gate.snapshots.lately(&visitor.sale_id)).await.map_err(Problem::unanswered)?;
        visitor.read_sale();
    }
    visitor.sale().map(drop)
}
