use api::{Code, Problem};
use lambda_http::Request;

use crate::{Gate, Visitor};

/// Hides the sale from users who may not see it.
pub(super) async fn check(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let gate_terms = &visitor.sale()?.round.terms.gate;
    if !gate_terms.is_hidden() {
        return Ok(());
    }
    let unknown = || Problem::new(Code::UnknownSale);
    let memberships = gate.memberships.ok_or_else(unknown)?;
    let may = Box::pin(memberships.is_in_one(request, &visitor.user, &gate_terms.groups_see)).await;
    if may.map_err(Problem::unanswered)? { Ok(()) } else { Err(unknown()) }
}
