use api::{Code, Problem, last_segment};
use lambda_http::Request;
use ledger::{DeniedWhy, Struck};

use crate::{Gate, Visitor};

/// Verifies the pass. A forged one counts as a strike. Denials of users are left to the script.
pub(super) async fn check(gate: &Gate<'_>, request: &Request, visitor: &mut Visitor) -> Result<(), Problem> {
    let ring = gate.keys.ring().await.map_err(Problem::unanswered)?;
    let token = last_segment(request);
    match ring.open(token, &visitor.sale_id, &visitor.user, gate.clock.now()) {
        Ok(pass) => {
            visitor.pass = Some(pass);
            Ok(())
        }
        Err(_) => {
            if !ring.has_sealed(token, &visitor.sale_id, &visitor.user) {
                Box::pin(strike(gate, visitor)).await;
            }
            Err(Problem::new(Code::BadToken))
        }
    }
}

/// Records a forged pass in the ledger, unless this user already has enough records.
async fn strike(gate: &Gate<'_>, visitor: &Visitor) {
    let (forgeries, now) = (&gate.counts.forgeries, gate.clock.now());
    let door = visitor.sale.as_ref().map(|cached| cached.round.terms.door.clone()).unwrap_or_default();
    if !forgeries.is_to_be_told(&visitor.user, door.strikes, now) {
        return;
    }
    let struck =
        fulfilment::strike(gate.stock, gate.ledger, &visitor.user, DeniedWhy::ForgedTokens, &door, gate.clock).await;
    if let Some(Struck::Denied(until)) = struck {
        forgeries.note_denied(&visitor.user, until);
    }
}
