use api::{Code, Problem, last_segment};
use lambda_http::Request;
use ledger::{BlockReason, ViolationOutcome};

use crate::{Gate, Visitor};

/// Verifies the pass. A forged one counts as a violation. Blocks of users are left to the script.
pub(super) async fn check(gate: &Gate<'_>, request: &Request, visitor: &mut Visitor) -> Result<(), Problem> {
    let ring = gate.keys.get().await.map_err(Problem::unanswered)?;
    let token = last_segment(request);
    match ring.open(token, &visitor.sale_id, &visitor.user, gate.clock.now()) {
        Ok(pass) => {
            visitor.pass = Some(pass);
            Ok(())
        }
        Err(_) => {
            if !ring.has_sealed(token, &visitor.sale_id, &visitor.user) {
                Box::pin(count_violation(gate, visitor)).await;
            }
            Err(Problem::new(Code::BadToken))
        }
    }
}

/// Records a forged pass in the ledger, unless this user already has enough records.
async fn count_violation(gate: &Gate<'_>, visitor: &Visitor) {
    let (Gate { stock, ledger, counts, clock, .. }, user) = (*gate, &visitor.user);
    let door = visitor.sale.as_ref().map(|cached| cached.round.terms.door.clone()).unwrap_or_default();
    if !counts.forgeries.is_to_be_told(user, door.violations, clock.now()) {
        return;
    }
    let outcome = fulfilment::count_violation(stock, ledger, user, BlockReason::ForgedTokens, &door, clock).await;
    if let Some(ViolationOutcome::Blocked(until)) = outcome {
        counts.forgeries.note_blocked(user, until);
    }
}
